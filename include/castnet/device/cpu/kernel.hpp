// Kernels of a stage: every chunk takes a few samples at a time through all of them.
#pragma once

#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/idle_steps.hpp>
#include <castnet/device/cpu/next_step.hpp>
#include <castnet/device/cpu/slices.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/launches.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
struct kernel {
    using function = void (*)(kernel_launch const&, tables const&, context<T> const&);
    function run = nullptr;     // over the samples of the context, or their images
    function prepare = nullptr; // before that, and before any chunk begins: the weight
    function begin = nullptr;   // in every chunk, before its first samples
    function finish = nullptr;  // after all chunks have ended
    function whole = nullptr;   // instead of `run` where the launch runs alone,
    bool has_whole = false;     // if there is one (in constants, addresses are not compared)
    function keep = nullptr; // instead of `prepare` where its result is kept: only when parameters
                             // have changed
    bool of_samples = true;  // the launch; else its context has one
    int slices = 0;          // that it unfolds at once for the next launch; 0: all

    // The functions that one form of launch needs: the rest is not compiled for it.
    constexpr kernel alone() const { return {has_whole ? whole : run, prepare}; }
    constexpr kernel in_chunks() const { return {run, prepare, begin, finish}; }
    constexpr kernel with_kept_weight() const {
        kernel k = *this;
        k.keep = prepare;
        k.prepare = nullptr;
        return k;
    }
};

// The kernel of an operation, by specialisation beside its functions:
//
//   static constexpr kernel<T> of(kernel_launch const&, window const* windows);
//   static constexpr scratch_size scratch(window const&);  where the operation has a window and its
//                                                          kernel needs memory
//   static constexpr bool whole(kernel_launch const&, window const* windows);
//                                                          whether it has to see the whole batch;
//                                                          where it is not there: it does not
template <class T, op K>
struct kernel_for {};

// A base of those that are one function for all windows.
template <class T, auto Function>
struct function_kernel {
    static constexpr kernel<T> of(kernel_launch const&, window const*) { return {Function}; }
};

// How many chunks of a stage run on one thread each. The last ones, if they would leave half of the
// threads idle, run one after another, in kernels that share the threads.
inline std::ptrdiff_t chunks_apart(std::ptrdiff_t used) {
    std::ptrdiff_t const left = used % thread_count();
    return 2 * left <= thread_count() ? used - left : used;
}

// A stage of a plan, with what each of the plan's launches needs; after(i) is called whenever
// launch i has run, or only at the end. The chunks share the threads, or run one after another
// where launches are looked at one by one. (Nothing here depends on the plan, so that it is
// compiled once.)
template <class T, class After>
[[gnu::noinline]] void run_stage(stage const& g, kernel_launch const* launches,
                                 kernel<T> const* kernels, tables const& t, context<T> const& c,
                                 After const& after) {
    constexpr bool one_by_one = calls_after_launches<After>;
    // Launch i, which unfolds volumes, and the next one, which reads them.
    auto const run_in_slices = [&](int i, context<T> const& with) {
        int const all = t.windows[launches[i].window].out_height;
        array_ref const& unfolded = t.arrays[launches[i].output];
        context<T> mine = with;
        for (std::ptrdiff_t sample = 0; sample < with.samples; ++sample) {
            for (int first = 0; first < all; first += kernels[i].slices) {
                int const count = std::min(kernels[i].slices, all - first);
                for (int k : {i, i + 1}) {
                    slices_of_launch const here{launches[k], t,     unfolded, sample,
                                                all,         first, count};
                    mine.samples = k == i ? 1 : count;
                    kernels[k].run(here.launch(), here.tables(), mine);
                    if (one_by_one) {
                        after(k);
                    }
                }
            }
        }
    };
    auto const call = [&](typename kernel<T>::function kernel<T>::* part, context<T> const& with) {
        for (int i = g.first; i < g.last; ++i) {
            if (part == &kernel<T>::run && kernels[i].slices > 0) {
                run_in_slices(i++, with);
                continue;
            }
            if (auto const f = kernels[i].*part) {
                int const w = part == &kernel<T>::run ? launches[i].window : -1,
                          images = w < 0 ? 1 : t.windows[w].images;
                if (images > 1 || !kernels[i].of_samples) {
                    context<T> mine = with;
                    mine.samples = images * (kernels[i].of_samples ? with.samples : 1);
                    f(launches[i], t, mine);
                } else {
                    f(launches[i], t, with);
                }
                if (one_by_one) {
                    after(i);
                }
            }
        }
    };
    auto const run_chunk = [&](std::ptrdiff_t chunk, std::ptrdiff_t worker) {
        context<T> mine = c;
        mine.chunk = chunk;
        mine.worker = worker;
        call(&kernel<T>::begin, mine);
        std::ptrdiff_t const end = chunk_begin(c.samples, chunk + 1);
        for (mine.first = chunk_begin(c.samples, chunk); mine.first < end;
             mine.first += g.samples_at_once) {
            mine.samples = std::min<std::ptrdiff_t>(g.samples_at_once, end - mine.first);
            call(&kernel<T>::run, mine);
        }
    };
    if (g.iterations > 0) {
        // Samples are independent of each other: every thread takes its own through all of time.
        auto const run_samples = [&](std::ptrdiff_t first, std::ptrdiff_t last) {
            context<T> mine = c;
            mine.first = first;
            mine.samples = last - first;
            std::ptrdiff_t const longest = longest_sequence(g, launches, t, mine);
            for (std::ptrdiff_t i = 0; i < g.iterations; ++i) {
                mine.iteration = g.backwards ? g.iterations - 1 - i : i;
                fetch_next_step(g, launches, t, mine);
                call(&kernel<T>::run, mine);
                if (mine.iteration >= longest) {
                    std::ptrdiff_t const alike = g.iterations - 1 - longest; // that follow
                    copy_step(g, launches, t, mine, alike);
                    i += alike;
                }
            }
        };
        call(&kernel<T>::prepare, c);
        if (one_by_one) {
            run_samples(0, c.samples);
        } else {
            share_range(c.samples, double(c.samples) * double(g.flops), run_samples);
        }
    } else if (g.samples_at_once == 0) {
        call(&kernel<T>::prepare, c);
        call(&kernel<T>::run, c);
    } else {
        call(&kernel<T>::prepare, c);
        std::ptrdiff_t const used = chunks_in_use(c.samples),
                             apart = one_by_one ? 0 : chunks_apart(used);
        parallel_for(apart, double(c.samples) * double(g.flops), run_chunk);
        for (std::ptrdiff_t chunk = apart; chunk < used; ++chunk) {
            run_chunk(chunk, 0);
        }
        call(&kernel<T>::finish, c);
    }
    if (!one_by_one) {
        after(g.last - 1);
    }
}

// The weights of a stage that are kept in another form.
template <class T>
[[gnu::noinline]] void keep_weights(stage const& g, kernel_launch const* launches,
                                    kernel<T> const* kernels, tables const& t,
                                    context<T> const& c) {
    for (int i = g.first; i < g.last; ++i) {
        if (kernels[i].keep) {
            kernels[i].keep(launches[i], t, c);
        }
    }
}

// The sums of the chunks, in their order.
template <class T>
void add_chunks(array_ref const& sums, context<T> const& c, std::ptrdiff_t count, T factor,
                T* out) {
    T const* const first = c.sum_at(sums);
    constexpr std::ptrdiff_t piece = 4096;
    parallel_for((count + piece - 1) / piece, double(chunks * count), [&](std::ptrdiff_t k) {
        std::ptrdiff_t const begin = k * piece, n = std::min(piece, count - begin);
        std::fill_n(out + begin, n, T(0));
        for (std::ptrdiff_t chunk = 0; chunk < chunks_in_use(c.samples); ++chunk) {
            T const* const sum = first + chunk * sums.chunk_stride + begin;
            CASTNET_SIMD
            for (std::ptrdiff_t i = 0; i < n; ++i) {
                out[begin + i] += sum[i];
            }
        }
        CASTNET_SIMD
        for (std::ptrdiff_t i = 0; i < n; ++i) {
            out[begin + i] *= factor;
        }
    });
}

} // namespace castnet::cpu::inline CASTNET_TARGET
