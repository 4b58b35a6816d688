// A loss takes all outputs.
// expect: castnet: the loss cannot be called with the outputs of the network and a target
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct two_heads {
    constexpr auto operator()(auto x) const {
        return cn::outputs(x | cn::dense<2>, x | cn::dense<4>);
    }
};
using net = cn::network<two_heads{}, cn::input<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::mse, cn::adam{});
auto history = training.fit(cn::data::blobs<2, 3>(16, 1), {.epochs = 3});
