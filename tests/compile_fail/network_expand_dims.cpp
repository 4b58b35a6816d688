// A new axis has its place among those that are there.
// expect: castnet: expand_dims: the new axis must be at most the rank of the tensor
// expect: can_add_axis<.*shape<4>, 2
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct head {
    constexpr auto operator()(auto x) const { return cn::expand_dims<2>(x) | cn::dense<1>; }
};
using net = cn::network<head{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
