// A sample has one length.
// expect: castnet: with_lengths takes one number of each sample, such as an input_length<steps>
// expect: is_a_length<castnet::shape<2>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct of_two {
    constexpr auto operator()(auto x, auto lengths) const {
        return cn::gru<8>(cn::with_lengths(x, lengths));
    }
};
using net = cn::network<of_two{}, cn::input<6, 2>, cn::input<2>>;

auto count = net::parameter_count;
