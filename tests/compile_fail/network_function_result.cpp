// Several outputs are cn::outputs(…).
// expect: castnet: the function of a network returns a symbol, or cn::outputs\(a, b\) where it has several outputs
// expect: function_returns<.*pair<castnet::symbol<castnet::shape<2>
#include <castnet/castnet.hpp>

#include <utility>

namespace cn = castnet;

struct two_outputs {
    constexpr auto operator()(auto x) const {
        return std::pair{x | cn::dense<2>, x | cn::dense<3>};
    }
};
using net = cn::network<two_outputs{}, cn::input<2>>;

cn::model<net, cn::policy::cpu, cn::batch<1>> model;
