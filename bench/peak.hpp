// What one core can do at most: multiply-adds on registers alone.
#pragma once

#include <castnet/device/cpu/peak.hpp>

#include <benchmark/benchmark.h>
#include <chrono>

namespace bench {

// Floating-point operations per second of the threads in use at the first call.
inline double peak() {
    static double const measured = castnet::cpu::peak_flops<float>();
    return measured;
}

// Reports what the iterations between its construction and report() did, beside the peak.
class meter {
public:
    void report(benchmark::State& state, double flops_per_iteration) const {
        std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start_;
        double const rate = flops_per_iteration * double(state.iterations()) / seconds.count();
        state.counters["FLOP/s"] = rate;
        state.counters["of_peak"] = rate / peak();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace bench
