// Peak performance of the processor, as a measure for kernels.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/clock.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/device/cpu/threads.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// Multiply-adds in registers only, in enough independent chains to hide their latency; returns the
// number of floating-point operations. (Volatile, so that the compiler does not know the result.)
template <class T>
CASTNET_WIDE_VECTORS double multiply_add_registers(int rounds) {
    constexpr int groups = 3, chains = vector_registers / 4;
    T volatile unknown = 0;
    T const factor = unknown, term = unknown;
    vec<T> sum[groups][chains];
    for (auto& group : sum) {
        for (vec<T>& chain : group) {
            chain = vec<T>{} + unknown; // otherwise all chains would be one
        }
    }
    for (int i = 0; i < rounds; ++i) {
        CASTNET_UNROLL
        for (int group = 0; group < groups; ++group) {
            CASTNET_UNROLL
            for (int chain = 0; chain < chains; ++chain) {
                sum[group][chain] = sum[group][chain] * factor + term;
            }
        }
    }
    for (auto const& group : sum) {
        for (vec<T> const& chain : group) {
            unknown = chain[0];
        }
    }
    return 2.0 * groups * chains * simd<T>::width * rounds;
}

// Floating-point operations per second of all threads together: the best of many runs, each short
// enough for a slice of time on a busy processor, which take about 100 ms.
template <class T>
double peak_flops() {
    constexpr int rounds = 200'000; // much longer than waking the threads takes
    int const threads = thread_count();
    double best = 0;
    for (int i = 0; i < 100; ++i) {
        double const start = castnet::detail::monotonic_seconds();
        double flops = 0; // of one thread, the same for each
        parallel_for(threads, 1e9, [&](std::ptrdiff_t thread) {
            double const done = multiply_add_registers<T>(rounds);
            if (thread == 0) {
                flops = done;
            }
        });
        best = std::max(best, flops * threads / (castnet::detail::monotonic_seconds() - start));
    }
    return best;
}

} // namespace castnet::cpu::inline CASTNET_TARGET
