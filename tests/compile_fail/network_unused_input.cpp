// An input that nothing depends on.
// expect: castnet: an input of the network does not reach its outputs: leave it out
// expect: input_is_used<1>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct one_sided {
    constexpr auto operator()(auto left, auto) const { return left | cn::dense<2>; }
};
using net = cn::network<one_sided{}, cn::input<4>, cn::input<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
