// Every optimizer on a device against PyTorch over six steps, in double. The gradient by the
// weights of a product is its input, where the gradient with respect to its output is 1.
#include <castnet/nn/dense.hpp>
#include <castnet/nn/losses.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/optim/clipping.hpp>
#include <castnet/train/compile.hpp>

#include "../golden_optimizers.hpp"
#include "exact_set.hpp"
#include "policy.hpp"

#include <algorithm>
#include <cmath>

namespace cn = castnet;
using check::values;

namespace {

constexpr std::size_t count = 20;
using network = cn::sequential<cn::input<count>, cn::dense<1>.no_bias()>;
using data_set = check::exact_set<cn::shape<1>, cn::shape<count>>;

struct as_in_pytorch {
    template <class Optimizer>
    void operator()(std::string const& name, Optimizer const& optimizer) const {
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
};

} // namespace

TEST_CASE("every optimizer takes the steps of PyTorch's") {
    check::for_each_golden_optimizer(as_in_pytorch{});
}

namespace {

// What is clipped includes the gradient of the penalties.
using penalized = cn::sequential<cn::input<count>, cn::dense<1>.no_bias().l1(0.25F).l2(0.125F)>;

// Weights after six steps with clipped gradients: those of an optimizer that is given by hand what
// clip(gradient) leaves.
template <class Optimizer, class Clipped, class Clip>
void clips(Optimizer const& optimizer, Clipped const& clipped, Clip const& clip) {
    static check::golden_file const file{"optimizers"};
    values gradients = file["adam/gradients"], expected = file["adam/parameter0"];
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        gradients[i] *= i / count % 2 == 0 ? 0.01 : 3; // some are clipped, others are not
    }
    cn::model<penalized, check::policy, cn::batch<1>> model;
    model.set("0.weight", expected);
    data_set const data{{gradients}, values(6, -1e6), values(6, 1)};
    auto training = cn::compile(model, cn::mae, clipped);
    values state[2] = {values(count), values(count)};
    for (std::size_t step = 0; step < 6; ++step) {
        training.step(data, std::span{&step, 1});
        values g(count);
        for (std::size_t i = 0; i < count; ++i) {
            double const w = expected[i];
            g[i] = gradients[step * count + i] + 2 * 0.125 * w + (w > 0 ? 0.25 : -0.25);
        }
        clip(g);
        auto const rule = optimizer.template at<double>(step + 1, optimizer.learning_rate);
        for (std::size_t i = 0; i < count; ++i) {
            if constexpr (Optimizer::slots == 2) {
                rule(expected[i], g[i], state[0][i], state[1][i]);
            } else {
                rule(expected[i], g[i]);
            }
        }
    }
    check::close(Clipped::name, model.get("0.weight"), expected, 1e-12);
}

} // namespace

TEST_CASE("a gradient is clipped by its norm, penalties included") {
    int clipped = 0;
    auto const by_norm = [&](values& g) {
        double squares = 0;
        for (double x : g) {
            squares += x * x;
        }
        double const factor = std::min(1.0, 3 / (std::sqrt(squares) + 1e-6));
        clipped += factor < 1;
        for (double& x : g) {
            x *= factor;
        }
    };
    cn::sgd const sgd{.learning_rate = 0.1, .weight_decay = 0.5};
    clips(sgd, cn::clip_norm(sgd, 3), by_norm);
    CHECK(clipped > 0);
    CHECK(clipped < 6);
    cn::adam const adam{.learning_rate = 0.1};
    clips(adam, cn::clip_norm(adam, 3), by_norm);
}

TEST_CASE("a gradient is clipped element by element") {
    cn::sgd const sgd{.learning_rate = 0.1, .weight_decay = 0.5};
    clips(sgd, cn::clip_value(sgd, 0.5), [](values& g) {
        for (double& x : g) {
            x = std::clamp(x, -0.5, 0.5);
        }
    });
}
