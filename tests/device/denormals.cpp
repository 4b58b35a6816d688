// Denormal numbers in kernels: 0, on every thread, and as before where the kernels have ended.
#include <castnet/device/cpu/threads.hpp>

#include <array>
#include <doctest/doctest.h>
#include <limits>

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
