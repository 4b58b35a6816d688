// Work on several threads. What a piece of work computes never depends on how many threads there
// are: the pieces are fixed, only who does them changes.
#pragma once

#include <castnet/device/cpu/denormals.hpp>

#include <cstddef>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace castnet::cpu {

// How many threads share the work.
inline int thread_count() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

// An equal part of the threads for one of so many that work side by side; at least one.
inline int thread_share([[maybe_unused]] int parts) {
#ifdef _OPENMP
    int const all = omp_get_num_procs() < thread_count() ? omp_get_num_procs() : thread_count();
    return all > parts ? all / parts : 1;
#else
    return 1;
#endif
}

// Parallel loops of the calling thread use so many from now on.
inline void set_thread_count([[maybe_unused]] int count) {
#ifdef _OPENMP
    omp_set_num_threads(count);
#endif
}

// Calls f(i, worker) for 0 <= i < count, where denormal numbers are 0; `work` is roughly how many
// operations all of them make. Calls at the same time have different workers < count. Within
// another such loop, its thread does all of them.
template <class F>
void parallel_for_workers(std::ptrdiff_t count, [[maybe_unused]] double work, F const& f) {
#ifdef _OPENMP
    constexpr double worthwhile = 200'000; // below, waking the threads costs more than they save
    if (work > worthwhile && count > 1 && thread_count() > 1 && !omp_in_parallel()) {
        std::ptrdiff_t const threads = thread_count() < count ? thread_count() : count;
#pragma omp parallel num_threads(static_cast<int>(threads))
        {
            flush_denormals const here;
#pragma omp for schedule(static)
            for (std::ptrdiff_t i = 0; i < count; ++i) {
                f(i, std::ptrdiff_t{omp_get_thread_num()});
            }
        }
        return;
    }
#endif
    flush_denormals const here;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        f(i, std::ptrdiff_t{0});
    }
}

// Calls f(i) for 0 <= i < count.
template <class F>
void parallel_for(std::ptrdiff_t count, double work, F const& f) {
    parallel_for_workers(count, work, [&](std::ptrdiff_t i, std::ptrdiff_t) { f(i); });
}

} // namespace castnet::cpu
