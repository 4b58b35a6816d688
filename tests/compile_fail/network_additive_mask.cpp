// A mask for other keys.
// expect: castnet: additive_mask has the shape \(keys\), \(queries, keys\) or
// expect: mask_fits_scores<.*shape<5, 4>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct masked {
    constexpr auto operator()(auto x, auto mask) const {
        return cn::multi_head_attention<2>(x, cn::additive_mask(mask));
    }
};
using net = cn::network<masked{}, cn::input<5, 6>, cn::input<5, 4>>;

auto count = net::parameter_count;
