// A metric that compares, beside a loss without a target.
// expect: castnet: a metric cannot be called with its output and the target, nor with all outputs
// expect: metric_takes<castnet::mae_loss, castnet::symbol<castnet::shape<3(UL)?> ?> ?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct magnitude {
    using targets = cn::data::targets<>;
    constexpr auto operator()(auto y) const { return cn::mean(cn::square(y)); }
};
using net = cn::sequential<cn::input<2>, cn::dense<3>>;
cn::model<net, cn::policy::cpu, cn::batch<8>> model;

auto training = cn::compile(model, magnitude{}, cn::adam{}, cn::mae);
