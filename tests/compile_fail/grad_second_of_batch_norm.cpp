// A gradient penalty cannot go through statistics of the batch.
// expect: castnet: an operation between the result and what it is differentiated with respect to has no gradient
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct penalty {
    constexpr auto operator()(auto x) const {
        constexpr auto critic = [](auto t) {
            return cn::sum(t | cn::dense<4> | cn::batch_norm | cn::tanh);
        };
        return cn::norm(cn::grad(critic, x));
    }
};
cn::model<cn::network<penalty{}, cn::input<5>>, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::mse, cn::adam{});
