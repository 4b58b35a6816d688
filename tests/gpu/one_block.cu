// Tiny networks, whose steps are one kernel.
#include <castnet/castnet.hpp>
#include <castnet/cuda.hpp>

#include "../parameters.hpp"

#include <cmath>
#include <doctest/doctest.h>

namespace cn = castnet;
using check::largest_difference;

namespace {

using network = cn::sequential<cn::input<13>, cn::dense<16>.l2(0.01F), cn::relu, cn::dropout<0.25F>,
                               cn::dense<32>, cn::batch_norm, cn::tanh, cn::dense<1>>;
using data_set = cn::data::dataset<cn::shape<1>, cn::shape<13>>;
using cn::policy::basic_cpu, cn::policy::basic_cuda, cn::policy::eager;

template <class Policy>
using model_of = cn::model<network, Policy, cn::batch<128>>;
template <class Policy>
using training_of =
    decltype(cn::compile(std::declval<model_of<Policy>&>(), cn::mse, cn::momentum{}, cn::mae));

static_assert(cn::cuda_device<float>::in_one_block<training_of<basic_cuda<float>>::training_plan>);
static_assert(
    cn::cuda_device<double>::in_one_block<training_of<basic_cuda<double>>::evaluation_plan>);

data_set samples(std::size_t count) {
    std::vector<float> x(count * 13), y(count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(float(i * i % 1009));
    }
    for (std::size_t i = 0; i < count; ++i) {
        y[i] = x[i * 13] - x[i * 13 + 1];
    }
    return data_set{std::move(x), std::move(y)};
}

// Three epochs, whose last batch is short; then everything that there is to see.
template <class Policy>
std::vector<double> train() {
    auto const data = samples(300);
    model_of<Policy> model{cn::seed{5}};
    training_of<Policy> training = cn::compile(model, cn::mse, cn::momentum{}, cn::mae);
    auto const h = training.fit(
        data, {.epochs = 3, .validation = samples(131), .verbose = cn::verbosity::silent});
    auto const y = model.predict(data);
    std::vector<double> all(y.begin(), y.end());
    for (char const* const column : {"loss", "mae", "val_loss", "val_mae"}) {
        all.push_back(h[column].back());
    }
    for (std::size_t i = 0; i < model.parameter_count(); ++i) {
        std::string const name = model.parameter_at(i).name.text();
        auto const w = model.get(name);
        all.insert(all.end(), w.begin(), w.end());
        auto const g = training.gradient(name);
        all.insert(all.end(), g.begin(), g.end());
    }
    return all;
}

} // namespace

TEST_CASE("a step that is one kernel is the one that the CPU takes") {
    auto const expected = train<basic_cpu<double>>();
    CHECK(largest_difference(train<basic_cuda<double>>(), expected) <= 1e-11);
    CHECK(largest_difference(train<basic_cuda<float>>(), expected) <= 1e-3);
}

TEST_CASE("as a graph it gives the same bits as alone") {
    CHECK(train<basic_cuda<float>>() == train<eager<basic_cuda<float>>>());
}
