// Data and fits for the tests of networks on several devices.
#pragma once

#include <castnet/castnet.hpp>

#include "parameters.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace model_parallel_test {

namespace cn = castnet;

// For a network of one input or of two of the same shape, and three classes.
template <class Network>
auto samples(std::size_t count) {
    using shape = cn::detail::nth_of<0, typename Network::inputs>;
    std::vector<float> a(count * shape::count), b(a.size());
    std::vector<int> y(count);
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = std::sin(float(i * i % 1009));
        b[i] = std::sin(float((i + 77) * (i + 77) % 1009));
    }
    for (std::size_t i = 0; i < count; ++i) {
        y[i] = a[i * shape::count] < 0 ? 0 : a[i * shape::count + 1] < 0 ? 1 : 2;
    }
    if constexpr (Network::inputs::size == 2) {
        return cn::data::dataset<cn::data::label<3>, shape, shape>{a, b, y};
    } else {
        return cn::data::dataset<cn::data::label<3>, shape>{a, y};
    }
}

// Parameters, predictions and scores of a fit whose last step is not full.
template <class Network, class Policy, class Optimizer = cn::adam>
std::vector<double> after_fit(Optimizer const& optimizer = {}, cn::devices const& chosen = {}) {
    auto const data = samples<Network>(37);
    cn::model<Network, Policy, cn::batch<8>> model{cn::seed{11}, chosen};
    auto training = cn::compile(model, cn::cross_entropy, optimizer, cn::accuracy);
    auto const history = training.fit(data, {.epochs = 3,
                                             .validation = data.take(9),
                                             .class_weight = {1, 0.5F, 2},
                                             .verbose = cn::verbosity::silent});
    auto all = check::everything<double>(model);
    auto const predictions = model.predict(data);
    all.insert(all.end(), predictions.begin(), predictions.end());
    for (char const* column : {"loss", "accuracy", "val_loss", "val_accuracy"}) {
        auto const values = history[column];
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

} // namespace model_parallel_test
