// Fused element-wise programs whose results are reduced on the way.
//
// A block computes some results, each with a power of two of its threads: every thread takes a part
// of the elements, and the parts are joined as a binary tree. Sums with many elements are split
// among blocks, whose parts a second kernel adds. So who adds what depends on the sizes only, and
// results are the same in every run.
#pragma once

#include <castnet/device/cuda/map.hpp>
#include <castnet/device/cuda/tuning.hpp>
#include <castnet/device/reducer.hpp>

namespace castnet::cuda {

// Who computes what.
struct reduce_shape {
    std::ptrdiff_t results = 1, elements = 1; // elements of each result
    unsigned wide = 1;                        // results of one block; `deep` threads work on each
    unsigned deep = 1;                        // wide * deep are the threads of a block
    unsigned splits = 1;                      // of the elements among blocks
    bool results_adjoin =
        false; // neighbouring results, not neighbouring elements, adjoin in memory

    CASTNET_HD constexpr unsigned groups() const {
        return static_cast<unsigned>((results + wide - 1) / wide);
    }
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

CASTNET_HD constexpr reduce_shape shape_reduction(std::ptrdiff_t results, std::ptrdiff_t elements,
                                                  bool results_adjoin, bool may_split) {
    reduce_shape r{results, elements};
    r.results_adjoin = results_adjoin;
    if (results_adjoin) {
        unsigned const most = block_threads / power_of_two(results, 32);
        r.deep = power_of_two(elements, most);
    } else {
        r.deep = power_of_two(elements > 4096 ? elements : (elements + 3) / 4, block_threads);
    }
    r.wide = block_threads / r.deep;
    if (may_split) {
        std::ptrdiff_t const worthwhile = elements / (8 * std::ptrdiff_t{r.deep});
        std::ptrdiff_t const useful = 4 * max_splits / r.groups();
        std::ptrdiff_t const splits = worthwhile < useful ? worthwhile : useful;
        r.splits = static_cast<unsigned>(splits < 1            ? 1
                                         : splits < max_splits ? splits
                                                               : max_splits);
    }
    return r;
}

// Source(result, element, f) calls f(value, number of the channel).
template <class Source, class Reducer, class T>
struct reduce_body {
    Source source;
    reduce_shape shape;
    T factor;
    T* out;             // a row of results for each split
    row_numbers rows{}; // of the results

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        unsigned const group = block.index() % shape.groups(),
                       split = block.index() / shape.groups();
        unsigned const thread = block.thread();
        unsigned const x = shape.results_adjoin ? thread % shape.wide : thread / shape.deep;
        unsigned const y = shape.results_adjoin ? thread / shape.wide : thread % shape.deep;
        std::ptrdiff_t const result = std::ptrdiff_t{group} * shape.wide + x;
        Reducer mine;
        if (result < shape.results) {
            std::ptrdiff_t const end = shape.elements * (split + 1) / shape.splits;
            source.prepare([&](auto const& value_at) {
                for (std::ptrdiff_t i = shape.elements * split / shape.splits + y; i < end;
                     i += shape.deep) {
                    value_at(result, i,
                             [&](T value, std::ptrdiff_t channel) { mine.take(value, channel); });
                }
            });
        }
        if (shape.deep > 1) {
            auto* const all = block.template shared<Reducer>();
            unsigned const step = shape.results_adjoin ? shape.wide : 1;
            all[thread] = mine;
            for (unsigned half = shape.deep / 2; half > 0; half /= 2) {
                block.sync();
                if (y < half) {
                    mine.join(all[thread + half * step]);
                    all[thread] = mine;
                }
            }
        }
        if (y == 0 && result < shape.results) {
            auto const row = static_cast<std::uint32_t>(split * shape.results + result);
            out[rows(row)] = mine.result(factor);
        }
    }
};

// The values of a program: a result is a point of the axes that are kept, an element one of the
// others.
template <class Program, class T>
struct program_source {
    static constexpr bool keep_samples = (Program::end.b & 1) != 0;
    static constexpr bool keep_pixels = (Program::end.b & 2) != 0;
    static constexpr bool keep_channels = (Program::end.b & 4) != 0;

    program_arguments<T> arguments;
    step_values const* now;
    quotient pixels, channels;
    row_numbers rows; // of the results

    template <class F>
    CASTNET_HD void prepare(F const& f) const {
        program_arguments<T> a = arguments;
        if constexpr (Program::random_streams > 0) {
            a.step = now->step;
            a.first_sample = now->first_sample;
        }
        f([&](std::ptrdiff_t result, std::ptrdiff_t element, auto const& take) {
            auto kept = rows(static_cast<std::uint32_t>(result)),
                 rest = static_cast<std::uint32_t>(element);
            std::uint32_t const channel = next<keep_channels>(channels, kept, rest);
            std::uint32_t const pixel = next<keep_pixels>(pixels, kept, rest);
            std::uint32_t const sample = keep_samples ? kept : rest;
            take(evaluate<Program>(a,
                                   point{sample, pixel, channel, pixels.divisor, channels.divisor}),
                 channel);
        });
    }

private:
    // The place along an axis, of a number that runs over it and others outside of it.
    template <bool Kept>
    CASTNET_HD static std::uint32_t next(quotient const& axis, std::uint32_t& kept,
                                         std::uint32_t& rest) {
        std::uint32_t& from = Kept ? kept : rest;
        std::uint32_t const outer = axis.divide(from), place = from - outer * axis.divisor;
        from = outer;
        return place;
    }
};

// Rows of partial sums: an element is a row.
template <class T>
struct partial_source {
    T const* partial;
    std::ptrdiff_t results;

    template <class F>
    CASTNET_HD void prepare(F const& f) const {
        f([this](std::ptrdiff_t result, std::ptrdiff_t row, auto const& take) {
            take(partial[row * results + result], 0);
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context, class Reducer, class Source, class T>
CASTNET_HD void launch_reduction(Context const& c, Source const& source, reduce_shape const& shape,
                                 T factor, T* out, row_numbers rows = {}) {
    c.launch({shape.groups() * shape.splits, block_threads, block_threads * sizeof(Reducer)},
             reduce_body<Source, Reducer, T>{source, shape, factor, out, rows});
}

// Elements of scratch memory that reduce() wants.
constexpr std::ptrdiff_t reduce_scratch(kernel_launch const& s, instruction const& end) {
    return s.space.sample && (end.b & 3) == 0 ? max_splits * ((end.b & 4) ? s.space.channels : 1)
                                              : 0;
}

CASTNET_CALLS_UNCHECKED
template <class Program, class Context>
CASTNET_HD void reduce(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    using source = program_source<Program, T>;
    constexpr reduction kind = static_cast<reduction>(Program::end.a);
    using state = reducer<kind, T>;
    std::ptrdiff_t const samples = s.space.sample ? c.samples : 1;
    std::ptrdiff_t const all = samples * s.space.pixels * s.space.channels;
    // in a loop, samples and pixels are kept, and channels are not
    bool const loops = c.iteration >= 0;
    pixel_rows const rows = loops ? rows_of(s.space, c) : pixel_rows{1, 0, 1};
    std::ptrdiff_t const results = loops ? rows.count
                                         : (source::keep_samples ? samples : 1) *
                                               (source::keep_pixels ? s.space.pixels : 1) *
                                               (source::keep_channels ? s.space.channels : 1);
    std::ptrdiff_t const elements = loops ? s.space.channels : all / results;
    source const from{arguments_of(s, t, c), c.now, quotient(s.space.pixels),
                      quotient(s.space.channels), numbers_of(rows)};
    reduce_shape const shape = shape_reduction(results, elements, source::keep_channels,
                                               kind == reduction::sum && s.scratch >= 0);
    T const factor = static_cast<T>(s.factor);
    T* const out = c.at(t.arrays[s.output]);
    if (shape.splits == 1) {
        pixel_rows const to = loops ? rows_of(t.arrays[s.output].size, c) : pixel_rows{1, 0, 1};
        launch_reduction<Context, state>(c, from, shape, factor, out, numbers_of(to));
        return;
    }
    if constexpr (kind == reduction::sum) {
        T* const partial = c.at(t.arrays[s.scratch]);
        launch_reduction<Context, state>(c, from, shape, T(1), partial);
        launch_reduction<Context, state>(c, partial_source<T>{partial, results},
                                         shape_reduction(results, shape.splits, true, false),
                                         factor, out);
    }
}

} // namespace castnet::cuda
