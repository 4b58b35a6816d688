// A shared layer starts as its first use says.
// expect: castnet: shared<name, layer> is used with initial values, init\(...\), init_bias\(...\) or padding_idx\(...\), which its layer did not have where it was used first
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct twins {
    constexpr auto operator()(auto a, auto b) const {
        auto const first = a | cn::shared<"encoder", cn::dense<4>>;
        return first - (b | cn::shared<"encoder", cn::dense<4>.init(cn::he_normal)>);
    }
};
using net = cn::network<twins{}, cn::input<3>, cn::input<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
