// Numbers of the program within a network.
// expect: castnet: a network, loss or metric computes with symbols and plain numbers
// expect: operands_are_traced<castnet::symbol<castnet::shape<4.*tensor<float, castnet::shape<4
#include <castnet/castnet.hpp>

namespace cn = castnet;

inline cn::tensor<float, cn::shape<4>> const weights;

struct head {
    constexpr auto operator()(auto x) const { return x * weights; }
};
using net = cn::network<head{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
