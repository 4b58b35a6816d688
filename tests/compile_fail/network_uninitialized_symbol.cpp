// A symbol that is no tensor yet.
// expect: castnet: the compiler traces a network, its loss and its metrics, and cannot compute
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct head {
    constexpr auto operator()(auto x) const {
        decltype(x | cn::dense<4>) y;
        return y | cn::dense<1>;
    }
};
using net = cn::network<head{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
