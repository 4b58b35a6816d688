// A mask is made of numbers, and is not the numbers themselves.
// expect: castnet: attention takes queries, keys, values and then masks: what stands behind is no mask
// expect: masks_scores<castnet::symbol<castnet::shape<5, 5> ?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct masked {
    constexpr auto operator()(auto x, auto mask) const {
        return cn::multi_head_attention<2>(x, x, x, mask);
    }
};
using net = cn::network<masked{}, cn::input<5, 6>, cn::input<5, 5>>;

auto count = net::parameter_count;
