// Four steps have no fifth.
// expect: castnet: select.., take.. or x.i. of a symbol: the axis has no such position
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct takes_last {
    constexpr auto operator()(auto x) const { return x[4]; }
};
using net = cn::network<takes_last{}, cn::input<4, 3>>;

cn::model<net, cn::policy::cpu, cn::batch<4>> model{cn::seed{1}};
