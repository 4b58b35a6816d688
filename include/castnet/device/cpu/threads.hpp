// Work on several threads. What a piece of work computes never depends on how many threads there
// are: the pieces are fixed, only who does them changes.
#pragma once

#include <castnet/device/cpu/denormals.hpp>

#include <cstddef>
#include <type_traits>

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

// A piece of work, of a type that does not name it: so that the loops below are compiled once, and
// the work once and not for each of them.
struct piece_of_work {
    void const* object;
    void (*call)(void const* object, std::ptrdiff_t i, std::ptrdiff_t worker);

    void operator()(std::ptrdiff_t i, std::ptrdiff_t worker) const { call(object, i, worker); }
};
// f(i, worker) or f(i). It works on a copy of f, which what it writes cannot be part of.
template <class F>
piece_of_work piece_of(F const& f) {
    return {&f, [](void const* object, std::ptrdiff_t i, [[maybe_unused]] std::ptrdiff_t worker) {
                F const mine = *static_cast<F const*>(object);
                if constexpr (std::is_invocable_v<F const&, std::ptrdiff_t>) {
                    mine(i);
                } else {
                    mine(i, worker);
                }
            }};
}

[[gnu::noinline]] inline void run_pieces(std::ptrdiff_t count, [[maybe_unused]] double work,
                                         piece_of_work const& f) {
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

// Calls f(i) or f(i, worker) for 0 <= i < count, where denormal numbers are 0; `work` is roughly
// how many operations all of them make. Calls at the same time have different workers < count.
// Within another such loop, its thread does all of them.
template <class F>
void parallel_for(std::ptrdiff_t count, double work, F const& f) {
    run_pieces(count, work, piece_of(f));
}

} // namespace castnet::cpu
