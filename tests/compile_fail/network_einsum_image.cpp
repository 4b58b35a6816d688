// Images have their axes in another order.
// expect: castnet: einsum takes no images or volumes
// expect: einsum_takes<.*shape<2[^,]*, ?3[^,]*, ?4
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct summed {
    constexpr auto operator()(auto x) const { return cn::einsum<"chw->c">(x); }
};
using net = cn::sequential<cn::input<2, 3, 4>, summed{}>;

auto count = net::parameter_count;
