// A layer whose result is dropped.
// expect: castnet: a parameter of the network does not reach its outputs
// expect: parameter_is_used<.*dense_1\.weight
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct forgetful {
    constexpr auto operator()(auto x) const {
        x | cn::dense<8>;
        return x | cn::dense<2>;
    }
};
using net = cn::network<forgetful{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
