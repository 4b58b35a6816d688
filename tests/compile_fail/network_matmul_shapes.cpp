// Factors of other shapes.
// expect: castnet: matmul: of two activations, neither an image, the left one needs as many columns
// expect: matrices_agree<.*shape<4, 6>, .*shape<5, 3>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct product {
    constexpr auto operator()(auto a, auto b) const { return matmul(a, b); }
};
using net = cn::network<product{}, cn::input<4, 6>, cn::input<5, 3>>;

auto count = net::parameter_count;
