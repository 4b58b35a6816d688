// The penalty of a shared layer is that of all its uses.
// expect: castnet: shared<name, layer> is used with a penalty, l1\(...\) or l2\(...\), which its layer did not have where it was used first
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct twins {
    constexpr auto operator()(auto a, auto b) const {
        auto const first = a | cn::shared<"encoder", cn::dense<4>>;
        return first - (b | cn::shared<"encoder", cn::dense<4>.l2(1e-3)>);
    }
};
using net = cn::network<twins{}, cn::input<3>, cn::input<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
