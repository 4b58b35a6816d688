// Parallel loops over fixed chunks. The number of threads only changes which thread computes a
// chunk, never a result.
#pragma once

#include <castnet/device/cpu/denormals.hpp>
#include <castnet/device/cpu/tuning.hpp>

#include <cstddef>
#include <type_traits>

#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>

namespace castnet::cpu {

// Whether this is a child, by fork(), of a process that had started OpenMP's threads. It has none
// of them, and GCC's OpenMP would wait for them for ever.
inline bool lacks_threads = false;

} // namespace castnet::cpu
#endif

namespace castnet::cpu::inline CASTNET_TARGET {

// Number of threads of parallel loops.
inline int thread_count() {
#ifdef _OPENMP
    return lacks_threads ? 1 : omp_get_max_threads();
#else
    return 1;
#endif
}

// An equal share of the threads for one of `parts` concurrent workers; at least one.
inline int thread_share([[maybe_unused]] int parts) {
#ifdef _OPENMP
    int const all = omp_get_num_procs() < thread_count() ? omp_get_num_procs() : thread_count();
    return all > parts ? all / parts : 1;
#else
    return 1;
#endif
}

// Sets the number of threads of the calling thread's parallel loops.
inline void set_thread_count([[maybe_unused]] int count) {
#ifdef _OPENMP
    omp_set_num_threads(count);
#endif
}

// Type-erased body of a loop, so that the loop below is compiled once.
struct parallel_body {
    void const* object;
    void (*call)(void const* object, std::ptrdiff_t i, std::ptrdiff_t worker);

    void operator()(std::ptrdiff_t i, std::ptrdiff_t worker) const { call(object, i, worker); }
};

[[gnu::noinline]] inline void run_parallel(std::ptrdiff_t count, [[maybe_unused]] double work,
                                           parallel_body const& f) {
#ifdef _OPENMP
    if (work > worthwhile_flops && count > 1 && thread_count() > 1 && !omp_in_parallel()) {
        [[maybe_unused]] static int const watches =
            ::pthread_atfork(nullptr, nullptr, [] { lacks_threads = true; });
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

// Calls f(i) or f(i, worker) for 0 <= i < count, with denormal numbers flushed to 0; `work` is
// roughly the number of operations of all calls. Concurrent calls have different workers < count. A
// nested loop runs on its caller's thread. The calls are on copies of f, so that its members are
// not read again after each store.
template <class F>
void parallel_for(std::ptrdiff_t count, double work, F const& f) {
    run_parallel(
        count, work,
        {&f, [](void const* object, std::ptrdiff_t i, [[maybe_unused]] std::ptrdiff_t worker) {
             F const mine = *static_cast<F const*>(object);
             if constexpr (std::is_invocable_v<F const&, std::ptrdiff_t>) {
                 mine(i);
             } else {
                 mine(i, worker);
             }
         }});
}

// Numbers from `first` to `last` - 1.
struct range {
    std::ptrdiff_t first, last;
};

// The threads that a loop with this much work would use: one within another loop.
inline std::ptrdiff_t threads_for([[maybe_unused]] double work) {
#ifdef _OPENMP
    if (work > worthwhile_flops && !omp_in_parallel()) {
        return thread_count();
    }
#endif
    return 1;
}

// Calls f(first, last) for parts of the range from 0 to `count`, one for each thread of a loop with
// this much work; or f(first, last, worker) for at most `chunks` parts, as many as there are
// scratch memories. Only for results that do not depend on where parts begin, since these depend on
// the number of threads.
template <class F>
void share_range(std::ptrdiff_t count, double work, F const& f) {
    constexpr bool has_worker =
        std::is_invocable_v<F const&, std::ptrdiff_t, std::ptrdiff_t, std::ptrdiff_t>;
    std::ptrdiff_t const most = has_worker && count > chunks ? chunks : count;
    std::ptrdiff_t const threads = threads_for(work), parts = threads < most ? threads : most;
    parallel_for(parts, work, [&](std::ptrdiff_t i, [[maybe_unused]] std::ptrdiff_t worker) {
        std::ptrdiff_t const first = count * i / parts, last = count * (i + 1) / parts;
        if constexpr (has_worker) {
            f(first, last, worker);
        } else {
            f(first, last);
        }
    });
}

} // namespace castnet::cpu::inline CASTNET_TARGET
