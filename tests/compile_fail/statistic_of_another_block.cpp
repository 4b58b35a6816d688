// A repeated block runs several times in a step, and a statistic around it has one place.
// expect: castnet: update\(statistic, value\): a block of repeat<N, block> updates statistics of its own only
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct counting_block {
    constexpr auto operator()(auto x, auto calls) const {
        cn::update(calls, calls + 1);
        return x | cn::dense<4> | cn::relu;
    }
};
struct counting {
    constexpr auto operator()(auto x) const {
        auto const calls = cn::new_statistic<cn::shape<>>(*x.g, "calls");
        return cn::repeat<3, counting_block{}>(x * (calls + 1), calls);
    }
};
using net = cn::network<counting{}, cn::input<4>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::mse, cn::sgd{});
