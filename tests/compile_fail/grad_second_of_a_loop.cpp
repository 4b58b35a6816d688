// A loop over time has a gradient, which has none.
// expect: castnet: an operation between the result and what it is differentiated with respect to has no gradient
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct penalty {
    constexpr auto operator()(auto x) const {
        return cn::grad([](auto t) { return cn::sum(t | cn::lstm<3>); }, x) | cn::dense<1>;
    }
};
cn::model<cn::network<penalty{}, cn::input<5, 2>>, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::mse, cn::adam{});
