// Denormal numbers in kernels: 0, on every thread, and as before where the kernels have ended.
#include <castnet/castnet.hpp>

#include <array>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

namespace cn = castnet;
namespace cpu = castnet::cpu;

namespace {

float half_of_smallest() { // computed when it is called
    float volatile x = std::numeric_limits<float>::min();
    return x / 2;
}

} // namespace

TEST_CASE("work shared by threads, and on one") {
    for (double const work : {1.0, 1e9}) {
        std::array<float, 8> made{};
        made.fill(1);
        cpu::parallel_for(8, work,
                          [&](std::ptrdiff_t i) { made[std::size_t(i)] = half_of_smallest(); });
        for (float const x : made) {
            CHECK(x == 0);
        }
        CHECK(half_of_smallest() > 0);
    }
}

TEST_CASE("a thread that wants zeros keeps them") {
    cpu::flush_denormals const outer;
    {
        cpu::flush_denormals const inner;
        CHECK(half_of_smallest() == 0);
    }
    CHECK(half_of_smallest() == 0);
}

TEST_CASE("gradients of few samples on many threads") {
    using network =
        cn::sequential<cn::input<1, 64, 64>, cn::conv2d<1, 3>.no_bias().init(cn::zeros)>;
    using data_set = cn::data::dataset<cn::shape<1, 62, 62>, cn::shape<1, 64, 64>>;
    data_set const data{std::vector<float>(2 * 64 * 64, 1e-20F),
                        std::vector<float>(2 * 62 * 62, 1e-15F)};
    int const before = cpu::thread_count();
    for (int const threads : {1, 8}) {
        cpu::set_thread_count(threads);
        cn::model<network, cn::policy::cpu, cn::batch<2>> model{cn::seed{1}};
        auto training = cn::compile(model, cn::mse, cn::sgd{.learning_rate = 1e30});
        training.step(data, std::vector<std::size_t>{0, 1});
        for (float const weight : model.get("0.weight")) { // products would be 5e-39
            CHECK(weight == 0);
        }
    }
    cpu::set_thread_count(before);
}
