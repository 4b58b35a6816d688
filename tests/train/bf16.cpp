// Networks whose products multiply bfloat16 on the CPU, against those in double.
#include "../bf16.hpp"

#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;
using check::everything, check::in_double, check::samples;

namespace {

using bf16 = cn::policy::bf16<cn::policy::cpu>;

// Convolutions of few channels, by Winograd's algorithm, of single pixels, with strides.
using convnet = cn::sequential<cn::input<3, 8, 8>, cn::conv2d<32, 3, cn::conv{.padding = 1}>,
                               cn::tanh, cn::conv2d<64, 3, cn::conv{.padding = 1}>, cn::tanh,
                               cn::avg_pool2d<2>, cn::conv2d<32, 1>, cn::batch_norm, cn::tanh,
                               cn::conv2d<34, 3, cn::conv{.stride = 2, .padding = 1}>, cn::tanh,
                               cn::flatten, cn::dense<40>, cn::tanh, cn::dense<33>, cn::dense<5>>;
using image = cn::shape<3, 8, 8>;

constexpr cn::transformer block{.feed_forward = 40, .dropout = 0, .causal = true};
using attending =
    cn::sequential<cn::input<6, 32>, cn::transformer_encoder_layer<1, block, cn::gelu>,
                   cn::lstm<32>, cn::dense<3>>;

template <class Policy, std::size_t Batch = 8>
std::vector<double> losses(int threads = 2, int epochs = 4) {
    int const before = cn::cpu::thread_count();
    cn::cpu::set_thread_count(threads);
    cn::model<convnet, Policy, cn::batch<Batch>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 0.005});
    auto loss = training.fit(samples<5, image>(21),
                             {.epochs = epochs, .verbose = cn::verbosity::silent})["loss"];
    cn::cpu::set_thread_count(before);
    return {loss.begin(), loss.end()};
}

} // namespace

TEST_CASE("a step's loss and gradients are those in double, but for roundings") {
    check::check_bf16_step<convnet, 5, image, bf16>(cn::seed{1}, 0.03);
    check::check_bf16_step<attending, 3, cn::shape<6, 32>, bf16>(cn::seed{1}, 0.02);
}

TEST_CASE("training in bfloat16 learns as in double, on any number of threads and replicas") {
    auto const exact = losses<in_double>(), alone = losses<bf16>();
    CHECK(alone.front() == doctest::Approx(exact.front()).epsilon(0.02));
    CHECK(exact.back() < 0.5 * exact.front());
    CHECK(alone.back() == doctest::Approx(exact.back()).epsilon(0.15));
    auto const on_one = losses<bf16>(1, 1);
    CHECK(on_one.front() == alone.front());
    for (int const threads : {3, 8}) {
        CHECK(losses<bf16>(threads, 1) == on_one);
    }
    auto const replicas = losses<cn::policy::mirrored<bf16, 2>, 4>();
    CHECK(replicas.back() == doctest::Approx(alone.back()).epsilon(0.02));
}

TEST_CASE("weights keep what bfloat16 cannot hold") {
    cn::model<convnet, bf16, cn::batch<8>> model{cn::seed{5}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{.learning_rate = 1e-5});
    auto const before = everything<double>(model);
    training.step(samples<5, image>(8), {0, 1, 2});
    auto const after = everything<double>(model);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
        changed += after[i] != before[i];
    }
    CHECK(changed > after.size() / 2);
}

TEST_CASE("a sample's prediction does not depend on the samples beside it") {
    cn::model<convnet, bf16, cn::batch<8>> const model{cn::seed{5}};
    cn::model<convnet, bf16, cn::batch<1>> const one{cn::seed{5}};
    auto const data = samples<5, image>(11);
    CHECK(model.predict(data) == one.predict(data));
}
