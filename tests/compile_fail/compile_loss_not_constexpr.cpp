// A loss is computed by the compiler, too.
// expect: castnet: the compiler traces a network, its loss and its metrics, and cannot compute
#include <castnet/castnet.hpp>

#include <cstdio>

namespace cn = castnet;

struct printing_loss {
    static constexpr char const* name = "printing";
    static constexpr bool labels = false;

    constexpr auto operator()(auto prediction, auto target) const {
        std::puts("once for each step?");
        return cn::mean(cn::abs(prediction - target));
    }
};
using net = cn::sequential<cn::input<4>, cn::dense<1>>;

void train(cn::model<net, cn::policy::cpu, cn::batch<1>>& model) {
    cn::compile(model, printing_loss{}, cn::sgd{});
}
