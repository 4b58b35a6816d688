// Which of the two it becomes, nobody knows.
// expect: castnet: update\(statistic, value\): the statistic is updated twice in a step: give the second update what the first one has returned
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct counting {
    constexpr auto operator()(cn::symbol<cn::shape<4>> x) const {
        auto const steps = cn::new_statistic<cn::shape<>>(*x.g, "steps");
        cn::update(steps, steps + 1);
        cn::update(steps, steps + 2);
        return x * steps;
    }
};
using net = cn::sequential<cn::input<4>, cn::dense<4>, counting{}>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::mse, cn::sgd{});
