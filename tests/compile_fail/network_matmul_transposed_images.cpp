// Images are no matrices.
// expect: castnet: matmul_transposed: two activations, neither an image, need the same number of
// expect: transposed_matrices_agree<.*shape<2, 4, 6>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct product {
    constexpr auto operator()(auto a) const { return matmul_transposed(a, a); }
};
using net = cn::network<product{}, cn::input<2, 4, 6>>;

auto count = net::parameter_count;
