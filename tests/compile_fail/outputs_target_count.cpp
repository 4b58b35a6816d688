// Two losses, but one target.
// expect: castnet: the data set has another number of targets than the loss compares with
// expect: target_count_fits<2(UL)?, 1(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct two_heads {
    constexpr auto operator()(auto x) const {
        return cn::outputs(x | cn::dense<3>, x | cn::dense<4>);
    }
};
using net = cn::network<two_heads{}, cn::input<2>>;
cn::model<net, cn::policy::cpu, cn::batch<8>> model;

auto training = cn::compile(model, cn::losses<cn::cross_entropy, cn::mse>, cn::adam{});
auto scores = training.evaluate(cn::data::blobs<3, 2>(16, 1));
