// A statistic is one for all samples.
// expect: castnet: update\(statistic, value\): the value is computed for each sample, but a statistic is one for all: take batch_mean\(value\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct following {
    constexpr auto operator()(cn::symbol<cn::shape<4>> x) const {
        auto const mean = cn::new_statistic<cn::shape<4>>(*x.g, "mean");
        cn::update(mean, cn::lerp(mean, x, 0.1));
        return x - mean;
    }
};
using net = cn::sequential<cn::input<4>, cn::dense<4>, following{}>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::mse, cn::sgd{});
