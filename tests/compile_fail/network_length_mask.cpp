// A sequence has one length.
// expect: castnet: length_mask needs one number for each sample, cn::input<1>
// expect: is_one_number<.*shape<5>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct of_lengths {
    constexpr auto operator()(auto x, auto lengths) const {
        return cn::multi_head_attention<2>(x, cn::length_mask(lengths));
    }
};
using net = cn::network<of_lengths{}, cn::input<5, 6>, cn::input<5>>;

auto count = net::parameter_count;
