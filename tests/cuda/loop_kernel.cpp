// Loops over time as one kernel each, against the CPU.
#include <castnet/castnet.hpp>

#include "../bf16.hpp"
#include "simulated_device.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;
using check::everything, check::in_double, check::largest_difference;
using simulated = simt::policy<true>;

namespace {

constexpr std::size_t steps = 4;

struct of_lengths { // both directions, whose states do not change after the end of a sample
    constexpr auto operator()(auto x, auto lengths) const {
        return cn::bidirectional<cn::gru<5>>(cn::with_lengths(x, lengths)) | cn::dense<3>;
    }
};
struct stacked { // with random numbers, some of which hold for all steps
    constexpr auto operator()(auto x, auto scale) const {
        constexpr auto layers = cn::lstm<6>.template layers<2>(0.25F).recurrent_dropout(0.25F);
        return (x | layers | cn::dense<3>)*scale;
    }
};
struct own_cell { // sums over channels, random numbers in the loop, a value from outside
    constexpr auto operator()(auto x, auto scale) const {
        auto const h = cn::scan(x | cn::dense<8>, cn::shape<8>{}, [scale](auto x_t, auto state) {
            return cn::tanh((x_t + (state | cn::dense<8>)) | cn::layer_norm | cn::dropout<0.2F>) *
                   scale;
        });
        return h.last | cn::dense<3>;
    }
};
struct repeated {
    constexpr auto operator()(auto x, auto scale) const {
        constexpr auto block = cn::block<cn::gru<4>.return_sequences()>;
        return (x | cn::dense<4> | cn::repeat<2, block> | cn::flatten | cn::dense<3>)*scale;
    }
};

using data_set = cn::data::dataset<cn::data::label<3>, cn::shape<steps, 3>, cn::shape<>>;

data_set sequences(std::size_t count) {
    std::vector<float> x(count * steps * 3), lengths(count);
    std::vector<int> y(count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = std::sin(float(i * i % 1009));
    }
    for (std::size_t i = 0; i < count; ++i) {
        lengths[i] = float(i % (steps + 1));
        y[i] = int(i % 3);
    }
    return data_set{std::move(x), std::move(lengths), y};
}

template <class Training>
constexpr int count_loop_kernels() {
    constexpr auto const& plan = Training::training_plan();
    return []<int... I>(std::integer_sequence<int, I...>) {
        return (0 + ... + int(Training::device::template in_one_kernel<plan, I>));
    }(std::make_integer_sequence<int, plan.sizes.stages>{});
}

struct outcome {
    double loss, next_loss;
    std::vector<double> parameters, predictions;
};

// Two steps, the second with fewer samples than the batch has.
template <auto Network, class Policy, std::size_t Batch, int Loops>
outcome train() {
    using network = cn::network<Network, cn::input<steps, 3>, cn::input<>>;
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{3}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{.learning_rate = 0.5});
    if constexpr (Loops > 0) {
        static_assert(count_loop_kernels<decltype(training)>() == Loops);
    }
    auto const data = sequences(Batch);
    std::vector<std::size_t> all(Batch);
    for (std::size_t i = 0; i < Batch; ++i) {
        all[i] = i;
    }
    outcome r{training.step(data, all).loss(), 0, {}, {}};
    all.resize(Batch / 2 + 1);
    r.next_loss = training.step(data, all).loss();
    r.parameters = everything<double>(model);
    auto const y = model.predict(data);
    r.predictions.assign(y.begin(), y.end());
    return r;
}

template <auto Network, int Loops, std::size_t Batch = 5>
void compare() {
    outcome const expected = train<Network, in_double, Batch, 0>(),
                  found = train<Network, simulated, Batch, Loops>();
    CHECK(found.loss == doctest::Approx(expected.loss).epsilon(1e-10));
    CHECK(found.next_loss == doctest::Approx(expected.next_loss).epsilon(1e-10));
    CHECK(largest_difference(found.parameters, expected.parameters) < 1e-10);
    CHECK(largest_difference(found.predictions, expected.predictions) < 1e-10);
}

} // namespace

TEST_CASE("a loop that is one kernel computes what the CPU does") {
    compare<of_lengths{}, 4>();
    compare<stacked{}, 4>();
    compare<own_cell{}, 2>();
    compare<repeated{}, 2>();
}

TEST_CASE("blocks of a loop share the samples of a batch") {
    constexpr std::size_t batch = cn::cuda::loop_blocks + 1; // two for each, and one for the last
    static_assert(cn::cuda::samples_of_loop_block(batch) == 2);
    compare<of_lengths{}, 4, batch>();
}

template <class Network, std::size_t Batch>
constexpr int loop_kernels = [] {
    using model = cn::model<Network, simulated, cn::batch<Batch>>;
    return count_loop_kernels<decltype(cn::compile(std::declval<model&>(), cn::cross_entropy,
                                                   cn::adam{}))>();
}();

TEST_CASE("a loop whose weights do not fit, or whose steps are large, is no single kernel") {
    using large = cn::sequential<cn::input<steps, 3>, cn::lstm<96>, cn::dense<3>>;
    using small = cn::sequential<cn::input<steps, 3>, cn::lstm<16>, cn::dense<3>>;
    constexpr std::size_t samples = cn::cuda::loop_block_elements / 64; // of a block
    static_assert(loop_kernels<large, 4> == 0);
    static_assert(loop_kernels<small, samples / 2 * cn::cuda::loop_blocks> == 2);
    static_assert(loop_kernels<small, samples * cn::cuda::loop_blocks + 1> == 0);
}

TEST_CASE(
    "arrays of one step lie in shared memory, and those that leave the loop come from there") {
    using model = cn::model<cn::sequential<cn::input<steps, 3>, cn::lstm<16>, cn::dense<3>>,
                            simulated, cn::batch<4>>;
    using training = decltype(cn::compile(std::declval<model&>(), cn::cross_entropy, cn::adam{}));
    constexpr auto const& plan = training::training_plan();
    int loops = 0;
    for (auto const& g : plan.stages) {
        if (g.iterations > 1) {
            auto const slots = cn::cuda::slots_of_loop<double>(plan, g, 1);
            CHECK(slots.count > 0);
            CHECK(cn::cuda::memory_of_loop<double>(plan, g).slots == slots.elements);
            int out = 0;
            for (int k = 0; k < slots.count; ++k) {
                out += slots.of[k].goes_out;
            }
            CHECK((out > 0) == (loops == 0)); // the last output, for the dense layer
            ++loops;
        }
    }
    CHECK(loops == 2);
}

TEST_CASE("a loop of products of bfloat16 is near the true one") {
    check::check_bf16_step<check::recurrent, 3, cn::shape<5, 6>, simt::policy<true, true>>(
        cn::seed{1}, 0.02);
}
