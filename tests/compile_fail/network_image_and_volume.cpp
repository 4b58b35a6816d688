// A volume combines with volumes, not with an image, whose axes would be its last three.
// expect: castnet: an image combines element by element only with images .*, a volume only with volumes
// expect: orders_agree<.*shape<3, ?1, ?1>, .*ordered_shape<.*3, ?3, ?4, ?5>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct weighted {
    constexpr auto operator()(auto volume) const {
        return volume * (volume | cn::global_avg_pool3d | cn::reshape<3, 1, 1>);
    }
};
using net = cn::network<weighted{}, cn::input<3, 3, 4, 5>>;

auto count = net::parameter_count;
