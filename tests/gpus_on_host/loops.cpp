// Loops over time and repeated blocks on simulated GPUs: their launches, unrolled in a graph,
// compute what the same kernels compute one after another; and what several GPUs sum in every
// repetition.
#include <castnet/castnet.hpp>
#include <castnet/nccl.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../parameters.hpp"
#include "device.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;

namespace {

using network = cn::sequential<cn::input<6, 3>, cn::bidirectional<cn::gru<5>>.return_sequences(),
                               cn::repeat<2, cn::residual<cn::batch_norm, cn::dense<10>>>,
                               cn::dropout<0.25F>, cn::lstm<4>, cn::dense<3>>;

template <class Policy, std::size_t Batch = 8>
std::vector<double> after_fit() {
    std::vector<float> x(26 * 18), y(26);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(float(i * i % 101));
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = float(i * 2 % 3);
    }
    cn::data::dataset<cn::data::label<3>, cn::shape<6, 3>> const data{x, y};
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.01});
    training.fit(data, {.epochs = 3, .verbose = cn::verbosity::silent});
    auto all = check::everything(model);
    auto const y_hat = model.predict(data);
    all.insert(all.end(), y_hat.begin(), y_hat.end());
    return all;
}

} // namespace

TEST_CASE("a loop over time is the same work on a GPU") {
    auto const expected = after_fit<simt::policy<false>>();
    for (std::uint64_t seed : {1U, 77U}) {
        machine::here().random = seed;
        CHECK(after_fit<on_host::policy<false>>() == expected);
    }
}

TEST_CASE("GPUs sum the batch statistics of every repetition") {
    using two = cn::policy::mirrored<on_host::policy<false>, 2>;
    CHECK(check::largest_difference(after_fit<two, 4>(), after_fit<simt::policy<false>>()) < 1e-12);
}
