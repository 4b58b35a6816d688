// Features are repeated as steps, not as features.
// expect: castnet: broadcast_to: a tensor is repeated along axes of one element; see can_broadcast_to
// expect: can_broadcast_to<.*shape<4> ?, .*shape<6, ?8>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct repeated {
    constexpr auto operator()(auto x) const { return cn::broadcast_to<6, 8>(x); }
};
using net = cn::sequential<cn::input<4>, repeated{}>;

auto count = net::parameter_count;
