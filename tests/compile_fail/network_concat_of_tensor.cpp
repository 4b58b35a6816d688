// Numbers of the program joined to those of a network.
// expect: operands_are_traced<castnet::symbol<castnet::shape<4.*tensor<float, castnet::shape<7
#include <castnet/castnet.hpp>

namespace cn = castnet;

inline cn::tensor<float, cn::shape<7>> const constants;

struct head {
    constexpr auto operator()(auto x) const { return cn::concat(x, constants); }
};
using net = cn::network<head{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
