// The two masks of && are not bool.
// expect: castnet: a tensor has no value yet while its network is traced
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct head {
    constexpr auto operator()(auto x) const { return (x > 0 && x < 1) | cn::dense<1>; }
};
using net = cn::network<head{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
