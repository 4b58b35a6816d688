// The text of einsum is checked for symbols, too.
// expect: castnet: einsum: the axes of one letter differ in their extents
// expect: einsum_fits<.*"ij,jk->ik"
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct product {
    constexpr auto operator()(auto x, auto y) const { return cn::einsum<"ij,jk->ik">(x, y); }
};
using net = cn::network<product{}, cn::input<2, 3>, cn::input<4, 3>>;

auto count = net::parameter_count;
