// matmul transposes weights, but no activations.
// expect: castnet: matmul\(\) multiplies with a parameter of role::dense_weight
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct self_attention {
    constexpr auto operator()(auto x) const { return matmul(x, x) | cn::softmax; }
};
using net = cn::network<self_attention{}, cn::input<4, 6>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
