// A product with numbers of the program within a network.
// expect: operands_are_traced<castnet::symbol<castnet::shape<4.*tensor<float, castnet::shape<4, 4
#include <castnet/castnet.hpp>

namespace cn = castnet;

inline cn::tensor<float, cn::shape<4, 4>> const matrix;

struct head {
    constexpr auto operator()(auto x) const { return cn::matmul(x, matrix); }
};
using net = cn::network<head{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
