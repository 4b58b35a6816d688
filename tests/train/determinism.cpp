// The same seed gives the same numbers, to the last bit, whatever the number of threads.
#include <castnet/castnet.hpp>

#include "../parameters.hpp"

#include <doctest/doctest.h>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace cn = castnet;
using check::everything;

namespace {

template <std::size_t Filters>
inline constexpr auto conv2d_with_padding = cn::conv2d<Filters, 3, cn::conv{.padding = 1}>;

using network =
    cn::sequential<cn::input<300>, cn::reshape<3, 10, 10>,
                   cn::conv2d<16, 3, cn::conv{.padding = 1}>, cn::batch_norm, cn::relu,
                   cn::avg_pool2d<2>, cn::conv2d<24, 3, cn::conv{.padding = cn::same, .groups = 2}>,
                   cn::gelu, cn::upsample2d<2>, cn::max_pool2d<2>, cn::flatten, cn::dropout<0.3F>,
                   cn::dense<64>.l2(1e-3F), cn::batch_norm, cn::tanh, cn::dense<5>>;

std::vector<float> trained(std::uint64_t seed, [[maybe_unused]] int threads) {
#ifdef _OPENMP
    int const before = omp_get_max_threads();
    omp_set_num_threads(threads);
#endif
    auto const data = cn::data::blobs<5, 300>(180, 3, 4);
    cn::model<network, cn::policy::cpu, cn::batch<50>> model{cn::seed{seed}};
    auto const optimizer = cn::clip_norm(cn::adam{}, 1); // whose norm is a sum over all parameters
    auto training = cn::compile(model, cn::cross_entropy, optimizer, cn::accuracy);
    training.fit(data, {.epochs = 2,
                        .schedule = cn::one_cycle(1e-2),
                        .validation = data,
                        .verbose = cn::verbosity::silent});
    auto all = everything(model);
    all.push_back(static_cast<float>(training.evaluate(data).loss()));
#ifdef _OPENMP
    omp_set_num_threads(before);
#endif
    return all;
}

#ifdef _OPENMP
// What threads share of few samples: every launch is large enough for several.
using few_at_a_time = cn::sequential<
    cn::input<3 * 95 * 91>, cn::reshape<3, 95, 91>, conv2d_with_padding<24>, cn::batch_norm,
    cn::relu, cn::max_pool2d<3, cn::pooling{.stride = 2, .padding = 1}>,
    cn::conv2d<24, 3, cn::conv{.padding = 1, .groups = 24}>, cn::gelu, conv2d_with_padding<32>,
    cn::upsample2d<2>, conv2d_with_padding<32>, cn::avg_pool2d<3>,
    cn::conv_transpose2d<24, 3, cn::conv_transpose{.stride = 2}>, cn::flatten, cn::dense<5>>;

// Predictions before and after a step of training, and what that made of the parameters.
template <std::size_t Samples>
std::vector<float> of_few(int threads) {
    int const before = omp_get_max_threads();
    omp_set_num_threads(threads);
    auto const data = cn::data::blobs<5, 3 * 95 * 91>(Samples, 3, 4);
    cn::model<few_at_a_time, cn::policy::cpu, cn::batch<Samples>> model{cn::seed{7}};
    auto training = cn::compile(model, cn::cross_entropy, cn::sgd{});
    auto all = model.predict(data);
    training.fit(data, {.epochs = 1, .verbose = cn::verbosity::silent});
    auto const again = model.predict(data), now = everything(model);
    all.insert(all.end(), again.begin(), again.end());
    all.insert(all.end(), now.begin(), now.end());
    omp_set_num_threads(before);
    return all;
}
#endif

} // namespace

TEST_CASE("training twice gives the same weights") {
    auto const once = trained(7, 2);
    CHECK(once == trained(7, 2));
    CHECK(once != trained(8, 2));
}

#ifdef _OPENMP
TEST_CASE("threads change nothing") {
    auto const one = trained(7, 1);
    CHECK(one == trained(7, 2));
    CHECK(one == trained(7, 5));
}

TEST_CASE("threads that share few samples change nothing") {
    auto const one = of_few<1>(1), three = of_few<3>(1);
    for (int const threads : {2, 3, 8}) {
        CHECK(one == of_few<1>(threads));
        CHECK(three == of_few<3>(threads)); // of which two threads share the last
    }
}
#endif

TEST_CASE("a model begins with the values that its seed says") {
    using model = cn::model<network, cn::policy::cpu, cn::batch<1>>;
    CHECK(everything(model{cn::seed{1}}) == everything(model{cn::seed{1}}));
    CHECK(everything(model{cn::seed{1}}) != everything(model{cn::seed{2}}));
}
