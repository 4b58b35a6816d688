// A gradient does not depend on the last bias of what it is a gradient of.
// expect: castnet: a parameter of the network does not reach its outputs
// expect: put the value into cn::outputs, too
// expect: parameter_is_used<.*body\.2\.bias
#include <castnet/castnet.hpp>

namespace cn = castnet;

inline constexpr auto body = cn::named<"body", cn::block<cn::dense<8>, cn::tanh, cn::dense<1>>>;

struct slope {
    constexpr auto operator()(auto x) const {
        return cn::grad([](auto t) { return cn::sum(body(t)); }, x);
    }
};
using net = cn::network<slope{}, cn::input<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
