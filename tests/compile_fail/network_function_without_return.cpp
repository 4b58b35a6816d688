// The function must return something.
// expect: castnet: the function of a network returns a symbol
// expect: function_returns<void>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct head {
    constexpr auto operator()(auto x) const { x | cn::dense<1>; }
};
using net = cn::network<head{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
