// What is traced is computed by the compiler.
// expect: castnet: the compiler traces a network, its loss and its metrics, and cannot compute
// expect:  operator\(\)|non-constexpr function 'operator\(\)'
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct head {
    auto operator()(auto x) const { return x | cn::dense<1>; }
};
using net = cn::network<head{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
