// A loss of one prediction for two outputs.
// expect: castnet: the loss cannot be called with the outputs of the network
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct two_heads {
    constexpr auto operator()(auto x) const {
        return cn::outputs(x | cn::dense<3>, x | cn::dense<4>);
    }
};
using net = cn::network<two_heads{}, cn::input<2>>;
cn::model<net, cn::policy::cpu, cn::batch<8>> model;

auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
