// A length is one number of a sample, not a column.
// expect: castnet: with_lengths takes one number of each sample, such as an input_length<steps>
// expect: is_a_length<castnet::shape<1>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct of_a_column {
    constexpr auto operator()(auto x, auto lengths) const {
        return cn::gru<8>(cn::with_lengths(x, lengths));
    }
};
using net = cn::network<of_a_column{}, cn::input<6, 2>, cn::input<1>>;

auto count = net::parameter_count;
