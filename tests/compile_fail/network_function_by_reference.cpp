// The symbols of a call are not variables.
// expect: castnet: the function of a network cannot be called with these symbols
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct head {
    constexpr auto operator()(auto& x) const {
        x = x | cn::dense<4>;
        return x | cn::dense<1>;
    }
};
using net = cn::network<head{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
