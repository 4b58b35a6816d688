// Names are unique.
// expect: castnet: two parameters of the network have the same name
// expect: parameter_name_is_unique<.*twin\.weight
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct twins {
    constexpr auto operator()(auto x) const {
        return x | cn::named<"twin", cn::dense<4>> | cn::named<"twin", cn::dense<4>>;
    }
};
using net = cn::network<twins{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
