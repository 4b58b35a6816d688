// Reductions of whatever a source has, with an accumulator for each result.
//
// A block computes some results, each with a power of two of its threads: every thread takes a part
// of the elements, and the parts are joined as a binary tree. Sums with many elements are split
// among blocks, and the last one of them to end adds their parts. So who adds what depends on the
// sizes only, and results are the same in every run.
#pragma once

#include <castnet/device/cuda/lanes.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/reduction_parts.hpp>
#include <castnet/device/cuda/row_numbers.hpp>
#include <castnet/device/cuda/tuning.hpp>
#include <castnet/device/quotient.hpp>

namespace castnet::cuda {

// Partition of results and elements among threads. A unit is a group of lanes, or one channel
// (map.hpp): as a result, those channels of it; as an element, all of them for one result.
struct reduce_shape {
    std::uint32_t results = 1, elements = 1; // in units; elements of each result
    unsigned wide = 1;                       // results of one block; `deep` threads work on each
    unsigned deep = 1;                       // wide * deep are the threads of a block
    unsigned splits = 1;                     // of the elements among blocks
    std::uint32_t split_elements = 1;        // of all but the last
    // Neighbouring results, not neighbouring elements, adjoin in memory, and so do their threads.
    bool results_adjoin = false;
    unsigned shift = 0; // 2^shift of a block's threads adjoin

    CASTNET_HD constexpr unsigned groups() const { return (results + wide - 1) / wide; }
};

// The least power of two that is not less than n, or `most`, a power of two.
CASTNET_HD constexpr unsigned power_of_two(std::ptrdiff_t n, unsigned most) {
    if (n >= std::ptrdiff_t{most}) {
        return most;
    }
    auto power = static_cast<unsigned>(n > 1 ? n - 1 : 0); // all bits below its highest are set
    for (unsigned shift = 1; shift < 32; shift *= 2) {
        power |= power >> shift;
    }
    return power + 1;
}

// Neighbouring results of a block that reads many elements of each.
CASTNET_HD constexpr unsigned adjoining_results(std::ptrdiff_t results) {
    return power_of_two(results, 32);
}

// In at most so many splits.
CASTNET_HD constexpr reduce_shape shape_reduction(std::ptrdiff_t results, std::ptrdiff_t elements,
                                                  bool results_adjoin, std::ptrdiff_t most_splits) {
    reduce_shape r{static_cast<std::uint32_t>(results), static_cast<std::uint32_t>(elements)};
    r.results_adjoin = results_adjoin;
    if (results_adjoin) {
        r.deep = power_of_two(elements, block_threads / adjoining_results(results));
    } else {
        r.deep = power_of_two(elements > 4096 ? elements : (elements + 3) / 4, block_threads);
    }
    r.wide = block_threads / r.deep;
    while ((1U << r.shift) < (results_adjoin ? r.wide : r.deep)) {
        ++r.shift;
    }
    std::ptrdiff_t const worthwhile = elements / (4 * std::ptrdiff_t{r.deep});
    std::ptrdiff_t const useful = reduction_blocks / r.groups();
    std::ptrdiff_t splits = worthwhile < useful ? worthwhile : useful;
    splits = most_splits < splits ? most_splits : splits;
    splits = splits < 1 ? 1 : splits;
    r.split_elements = static_cast<std::uint32_t>((elements + splits - 1) / splits);
    r.splits = elements > 0 ? (r.elements + r.split_elements - 1) / r.split_elements : 1;
    return r;
}

// In how many splits the elements of so many results may be, with this memory for their parts.
template <class Source, class T>
CASTNET_HD constexpr std::ptrdiff_t most_splits(std::ptrdiff_t results, T const* parts) {
    return Source::may_split && parts != nullptr
               ? max_parts / (results * Source::lanes * Source::results)
               : 1;
}

// Calls f(i) for i = begin, begin + step, … below end, all less than 2^31, and several at once, so
// that none waits for another's loads.
template <int AtOnce, class F>
CASTNET_HD void for_each_step(std::uint32_t begin, std::uint32_t end, std::uint32_t step,
                              F const& f) {
    std::uint32_t i = begin;
    if constexpr (AtOnce > 1) {
        CASTNET_NO_UNROLL
        for (; i + (AtOnce - 1) * step < end; i += AtOnce * step) {
            CASTNET_UNROLL
            for (std::uint32_t k = 0; k < AtOnce; ++k) {
                f(i + k * step);
            }
        }
    }
    CASTNET_NO_UNROLL
    for (; i < end; i += step) {
        f(i);
    }
}

// A reduction of what a source has. It has the constants
//   results     arrays that it is reduced to
//   lanes       most channels of a unit as a result
//   may_split   whether the elements may be split: a sum
// and in_lanes, whether units are lanes, and source.visit(result, f) calls f(at_once, take) once,
// where take(element, parts) gives an element to the reducers parts[of the array * lanes + lane],
// or to parts[0] where that is a bundle of different ones, and at_once<…> says how many elements
// are worth reading at once. If it has source.scale(result, times), that multiplies what the
// results are multiplied with at the end, in the order of the reducers; if it has
// source.store(result, reducers), that stores the results.
template <class Source, class Reducer, class T>
struct reduce_body {
    static constexpr bool is_bundle = requires { Reducer::is_bundle; };
    static constexpr int arrays = Source::results, lanes = Source::lanes,
                         accumulators = is_bundle ? 1 : arrays * lanes;

    Source source;
    reduce_shape shape;
    quotient groups;
    T factor;
    T* out[arrays];
    reduction_parts<T> parts{}; // where there are splits
    row_numbers rows{};         // of the results

    static constexpr std::size_t shared_bytes = block_threads * sizeof(Reducer) * accumulators;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        unsigned const split = groups.divide(block.index()),
                       group = block.index() - split * groups.divisor;
        place const at = place_of(block.thread());
        std::uint32_t const result = group * shape.wide + at.x;
        bool const mine = result < shape.results;
        Reducer part[accumulators];
        if (mine) {
            std::uint32_t const begin = split * shape.split_elements, rest = shape.elements - begin,
                                end = begin +
                                      (rest < shape.split_elements ? rest : shape.split_elements);
            source.visit(result,
                         [&]<int AtOnce>(std::integral_constant<int, AtOnce>, auto const& take) {
                             for_each_step<AtOnce>(begin + at.y, end, shape.deep,
                                                   [&](std::uint32_t i) { take(i, part); });
                         });
        }
        join(block, at, part);
        if constexpr (Source::may_split) {
            if (shape.splits > 1) {
                if (mine && at.y == 0) {
                    T times[accumulators];
                    fill(times, T(1));
                    store(part, times, result, [&](int k) { return partial_row(split, k); });
                }
                if (!block.is_last(parts.tickets + group, shape.splits)) {
                    return;
                }
                for (Reducer& p : part) {
                    p = {};
                }
                if (mine) {
                    for_each_step<(accumulators > 16 ? 1 : 4)>(
                        at.y, shape.splits, shape.deep,
                        [&](std::uint32_t row) { take_partial(row, result, part); });
                }
                join(block, at, part);
            }
        }
        if (!mine || at.y > 0) {
            return;
        }
        if constexpr (requires { source.store(result, part); }) {
            source.store(result, part);
        } else {
            T times[accumulators];
            fill(times, factor);
            if constexpr (requires { source.scale(result, times); }) {
                source.scale(result, times);
            }
            store(part, times, rows(result), [&](int k) { return out[k]; });
        }
    }

private:
    struct place {
        unsigned x, y; // number of the result in the block; of the thread among those of a result
    };
    CASTNET_HD place place_of(unsigned thread) const {
        unsigned const outer = thread >> shape.shift, inner = thread - (outer << shape.shift);
        return shape.results_adjoin ? place{inner, outer} : place{outer, inner};
    }

    // part of the first thread of each result = those of all its threads.
    template <class Block>
    CASTNET_HD void join(Block const& block, place const& at, Reducer (&part)[accumulators]) const {
        if (shape.deep == 1) {
            return;
        }
        auto* const all = block.template shared<Reducer>() + block.thread();
        std::size_t const step = shape.results_adjoin ? shape.wide : 1;
        CASTNET_UNROLL
        for (int k = 0; k < accumulators; ++k) {
            all[std::size_t(k) * block_threads] = part[k];
        }
        CASTNET_NO_UNROLL
        for (unsigned half = shape.deep / 2; half > 0; half /= 2) {
            block.sync();
            if (at.y < half) {
                CASTNET_UNROLL
                for (int k = 0; k < accumulators; ++k) {
                    part[k].join(all[std::size_t(k) * block_threads + half * step]);
                    all[std::size_t(k) * block_threads] = part[k];
                }
            }
        }
    }

    CASTNET_HD static void fill(T (&times)[accumulators], T value) {
        for (T& each : times) {
            each = value;
        }
    }
    CASTNET_HD T* partial_row(std::uint32_t split, int array) const {
        std::uint32_t const row = split * arrays + static_cast<std::uint32_t>(array);
        return parts.elements + row * shape.results * (source.in_lanes ? lanes : 1);
    }
    template <class RowOf>
    CASTNET_HD void store(Reducer const (&part)[accumulators], T const (&times)[accumulators],
                          std::uint32_t result, RowOf const& row_of) const {
        if constexpr (is_bundle) {
            part[0].each([&](int k, auto const& one) { row_of(k)[result] = one.result(times[0]); });
        } else {
            CASTNET_UNROLL
            for (int k = 0; k < arrays; ++k) {
                if (lanes > 1 && source.in_lanes) {
                    T all[lanes];
                    CASTNET_UNROLL
                    for (int i = 0; i < lanes; ++i) {
                        all[i] = part[k * lanes + i].result(times[k * lanes + i]);
                    }
                    store_lanes(all, row_of(k) + result * lanes);
                } else {
                    row_of(k)[result] = part[k * lanes].result(times[k * lanes]);
                }
            }
        }
    }
    CASTNET_HD void take_partial(std::uint32_t row, std::uint32_t result,
                                 Reducer (&part)[accumulators]) const {
        CASTNET_UNROLL
        for (int k = 0; k < arrays; ++k) {
            T const* const from = partial_row(row, k);
            if constexpr (lanes > 1) {
                if (source.in_lanes) {
                    T all[lanes];
                    load_lanes(from + result * lanes, all);
                    CASTNET_UNROLL
                    for (int i = 0; i < lanes; ++i) {
                        part[k * lanes + i].take(all[i], 0);
                    }
                    continue;
                }
            }
            part[k * lanes].take(from[result], 0);
        }
    }
};

} // namespace castnet::cuda
