// Axes are known to the compiler, of symbols as of tensors.
// expect: castnet: a reduction takes its axes as template arguments, as in sum<0>
// expect: reduction_takes<int>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct head {
    constexpr auto operator()(auto x) const { return cn::max(x, 0) | cn::dense<1>; }
};
using net = cn::network<head{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
