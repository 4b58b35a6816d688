// An axis of several positions stays.
// expect: castnet: squeeze: only an axis of extent 1 can be squeezed
// expect: can_squeeze_axis<.*shape<2, ?3>, 0
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct head {
    constexpr auto operator()(auto x) const { return cn::squeeze<0>(x) | cn::dense<1>; }
};
using net = cn::network<head{}, cn::input<2, 3>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
