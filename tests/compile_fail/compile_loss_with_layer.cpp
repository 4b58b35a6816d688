// A loss has no parameters of its own.
// expect: castnet: a loss or metric has a layer with parameters, which belong to a network
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct learned_loss {
    static constexpr char const* name = "learned";
    static constexpr bool labels = false;

    constexpr auto operator()(auto prediction, auto target) const {
        return cn::mean(cn::square(prediction - (target | cn::dense<1>)));
    }
};
using net = cn::sequential<cn::input<4>, cn::dense<1>>;

void train(cn::model<net, cn::policy::cpu, cn::batch<1>>& model) {
    cn::compile(model, learned_loss{}, cn::sgd{});
}
