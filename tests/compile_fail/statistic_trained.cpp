// The optimizer alone changes what is trained.
// expect: castnet: update\(statistic, value\): the first argument must be what new_statistic\(\) or an update of it has returned
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct shrinking {
    constexpr auto operator()(cn::symbol<cn::shape<4>> x) const {
        auto const scale = cn::new_parameter<cn::shape<4>>(*x.g, "scale", {.start = cn::ones});
        cn::update(scale, 0.9 * scale);
        return x * scale;
    }
};
using net = cn::sequential<cn::input<4>, cn::dense<4>, shrinking{}>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::mse, cn::sgd{});
