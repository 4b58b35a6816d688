// Every optimizer on a device against PyTorch over six steps, in double. The gradient by the
// weights of a product is its input, where the gradient by its output is 1.
#include <castnet/nn/dense.hpp>
#include <castnet/nn/losses.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/train/training.hpp>

#include "exact_set.hpp"
#include "policy.hpp"

namespace cn = castnet;
using check::values;

namespace {

constexpr std::size_t count = 20;
using network = cn::sequential<cn::input<count>, cn::dense<1>.no_bias()>;
using data_set = check::exact_set<cn::shape<1>, cn::shape<count>>;

template <class Optimizer>
void golden(std::string const& name, Optimizer const& optimizer) {
    static check::golden_file const file{"optimizers"};
    cn::model<network, check::policy, cn::batch<1>> model;
    model.set("0.weight", file[name + "/parameter0"]);
    values const far_below(6, -1e6); // so the derivative of the distance is 1
    data_set const data{{file[name + "/gradients"]}, far_below, values(6, 1)};
    auto training = cn::compile(model, cn::mae, optimizer);
    values found;
    for (std::size_t step = 0; step < 6; ++step) {
        training.step(data, std::span{&step, 1});
        auto const w = model.get("0.weight");
        found.insert(found.end(), w.begin(), w.end());
    }
    check::close(name, found, file[name + "/parameters"], 1e-13);
}

} // namespace

TEST_CASE("sgd") {
    golden("sgd", cn::sgd{.learning_rate = 0.1});
    golden("sgd_weight_decay", cn::sgd{.learning_rate = 0.1, .weight_decay = 0.01});
}

TEST_CASE("momentum") {
    golden("sgd_momentum", cn::momentum{.learning_rate = 0.1});
    golden("sgd_nesterov", cn::momentum{.learning_rate = 0.1, .nesterov = true});
    golden("sgd_momentum_weight_decay", cn::momentum{.learning_rate = 0.1, .weight_decay = 0.01});
}

TEST_CASE("rmsprop") {
    golden("rmsprop", cn::rmsprop{});
    golden("rmsprop_momentum", cn::rmsprop_momentum{});
    golden("rmsprop_centered", cn::rmsprop_momentum{.momentum = 0, .centered = true});
}

TEST_CASE("adam and adamw") {
    golden("adam", cn::adam{});
    golden("adam_weight_decay", cn::adam{.weight_decay = 0.01});
    golden("adamw", cn::adamw{});
}

TEST_CASE("adagrad and adadelta") {
    golden("adagrad", cn::adagrad{});
    golden("adadelta", cn::adadelta{});
}
