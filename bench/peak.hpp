// What one core can do at most: multiply-adds on registers alone.
#pragma once

#include <castnet/device/cpu/vector.hpp>

#include <algorithm>
#include <benchmark/benchmark.h>
#include <chrono>

namespace bench {

// Multiply-adds in enough independent chains to hide their latency; returns how many floating-point
// operations these were.
inline double multiply_add(int rounds) {
    using vector = castnet::cpu::vec<float>;
    constexpr int chains = castnet::cpu::vector_registers * 3 / 4;
    vector sum[chains] = {};
    float factor = 0, term = 0;
    benchmark::DoNotOptimize(factor); // or the compiler knows the result
    benchmark::DoNotOptimize(term);
    for (int i = 0; i < rounds; ++i) {
#pragma GCC unroll 32
        for (int c = 0; c < chains; ++c) {
            sum[c] = sum[c] * factor + term;
        }
    }
    benchmark::DoNotOptimize(&sum[0]);
    benchmark::ClobberMemory();
    return 2.0 * chains * castnet::cpu::simd<float>::width * rounds;
}

// Floating-point operations per second, the best of several tries, measured at the first call.
inline double peak() {
    static double const measured = [] {
        double best = 0;
        for (int i = 0; i < 50; ++i) {
            auto const start = std::chrono::steady_clock::now();
            double const flops = multiply_add(100'000);
            std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
            best = std::max(best, flops / seconds.count());
        }
        return best;
    }();
    return measured;
}

// Reports what the iterations between its construction and report() did, beside the peak.
class meter {
public:
    void report(benchmark::State& state, double flops_per_iteration) const {
        std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start_;
        double const rate = flops_per_iteration * double(state.iterations()) / seconds.count();
        state.counters["GFLOP/s"] = rate * 1e-9;
        state.counters["of_peak"] = rate / peak();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace bench
