// Tiny networks, whose steps a GPU does in one kernel, and all that there is to see of a training.
#pragma once

#include <castnet/castnet.hpp>

#include "parameters.hpp"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace check {

namespace cn = castnet;

struct regression {
    using network =
        cn::sequential<cn::input<13>, cn::dense<16>.l2(0.01F), cn::relu, cn::dropout<0.25F>,
                       cn::dense<32>, cn::batch_norm, cn::tanh, cn::dense<1>>;
    using data = cn::data::dataset<cn::shape<1>, cn::shape<13>>;
};
struct classifier {
    using network = cn::sequential<cn::input<2, 6, 6>, cn::max_pool2d<2>, cn::flatten, cn::dense<9>,
                                   cn::dropout<0.25F>, cn::gelu, cn::dense<5>>;
    using data = cn::data::dataset<cn::shape<5>, cn::shape<2, 6, 6>>;
};

template <class Network, class Policy, std::size_t Batch>
struct tiny {
    using model = cn::model<Network, Policy, cn::batch<Batch>>;
    using training =
        decltype(cn::compile(std::declval<model&>(), cn::mse, cn::momentum{}, cn::mae));

    static constexpr bool trains_in_one_kernel =
        model::device::template in_one_block<training::training_plan()>;
    static constexpr bool evaluates_in_one_kernel =
        model::device::template in_one_block<training::evaluation_plan()>;
};

template <class Data>
Data tiny_data(std::size_t samples) {
    std::vector<float> x(samples * Data::template input_shape<0>::count),
        y(samples * Data::template target_shape<0>::count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(float(i * i % 1009));
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = std::cos(float(i));
    }
    return Data{std::move(x), std::move(y)};
}

// Two epochs, whose last batch is short.
template <class Case, class Policy, std::size_t Batch>
std::vector<double> tiny_training() {
    using kind = tiny<typename Case::network, Policy, Batch>;
    using data_set = typename Case::data;
    auto const data = tiny_data<data_set>(2 * Batch + Batch / 3 + 1);
    typename kind::model model{cn::seed{5}};
    typename kind::training training = cn::compile(model, cn::mse, cn::momentum{}, cn::mae);
    auto const h = training.fit(data, {.epochs = 2,
                                       .validation = tiny_data<data_set>(Batch + 3),
                                       .verbose = cn::verbosity::silent});
    auto const y = model.predict(data);
    std::vector<double> all = everything<double>(model);
    all.insert(all.end(), y.begin(), y.end());
    for (char const* const column : {"loss", "mae", "val_loss", "val_mae"}) {
        all.push_back(h[column].back());
    }
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
        auto const g = training.gradient(model.parameter_at(i).name.text());
        all.insert(all.end(), g.begin(), g.end());
    }
    return all;
}

} // namespace check
