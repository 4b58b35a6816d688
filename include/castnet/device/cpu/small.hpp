// Kernels for tiny networks, where calling a kernel costs more than its arithmetic: every launch of
// a plan is compiled with its sizes as constants and runs on one thread.
#pragma once

#include <castnet/cpu/transpose.hpp>
#include <castnet/device/cpu/map.hpp>
#include <castnet/device/cpu/reduce.hpp>
#include <castnet/device/cpu/small_product.hpp>
#include <castnet/device/cpu/tuning.hpp>
#include <castnet/device/launches.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

// An element-wise function that is computed only when parameters have changed.
constexpr bool is_unhurried(kernel_launch const& s) {
    return s.once && s.kind == op::map;
}

// The only decision which networks are small. Their parameters fill at most half of a typical L1
// cache and their activations an L2 cache, no row is longer than 64 elements, and their launches
// are products, element-wise functions of vectors, and reductions of them. For single samples,
// parameters fill at most an eighth of an L2 cache, and rows have up to 256 elements.
template <class Plan>
constexpr bool is_small(Plan const& p) {
    bool const single = p.batch == 1;
    std::ptrdiff_t const row = single ? single_sample_row : small_row;
    if (p.elements(region::parameters) > (single ? single_sample_parameters : small_parameters) ||
        p.elements(region::workspace) > small_workspace) {
        return false;
    }
    for (stage const& g : p.stages) {
        // whose memory holds a few samples; loops
        if (g.samples_at_once > 0 || g.iterations > 0 || g.repeat >= 0) {
            return false;
        }
    }
    for (int i = 0; i < Plan::sizes.launches; ++i) {
        kernel_launch const& s = p.launches[i];
        if (s.kind == op::copy || is_unhurried(s)) {
            continue;
        }
        bool const product = is_matmul(s.kind);
        if (is_fused(s) == product || s.space.count() > row || s.space.pixels > 1 ||
            (product && !is_of_samples(s, p.arrays))) {
            return false;
        }
        if (s.kind == op::reduce && !s.space.sample) {
            return false;
        }
        for (int k = s.first_array; k <= s.output; ++k) {
            extents const size = p.arrays[k].size;
            if (size.sample && (size.pixels > 1 || size.channels > row)) {
                return false;
            }
        }
    }
    return true;
}

// Inline: then the compiler knows the arguments of constant launches.
template <class Program, int Channels, class T>
[[gnu::always_inline]] inline void small_map(program_arguments<T> const& a, std::ptrdiff_t samples,
                                             T* out) {
    if constexpr (Program::flat) {
        map_row<Program>(a, out, {0, 0, 0, 1, samples * Channels}, samples * Channels);
    } else {
        for (std::ptrdiff_t sample = 0; sample < samples; ++sample) {
            map_row<Program>(a, out, {sample, 0, 0, 1, Channels}, Channels);
        }
    }
}

// One number for each sample.
template <class Program, int Channels, class T>
void small_reduce(program_arguments<T> const& a, std::ptrdiff_t samples, T factor, T* out) {
    CASTNET_IVDEP
    for (std::ptrdiff_t sample = 0; sample < samples; ++sample) {
        reducer<static_cast<reduction>(Program::end.a), T> r;
        for (std::ptrdiff_t channel = 0; channel < Channels; ++channel) {
            r.take(evaluate<Program>(a, point{sample, 0, channel, 1, Channels}), channel);
        }
        out[sample] = r.result(factor);
    }
}

// Sums over the samples: one for each channel, or one in all. A single channel is summed up in as
// many parts as a vector holds.
template <class Program, int Channels, class T>
void small_sum(program_arguments<T> const& a, std::ptrdiff_t samples, T factor, T* out) {
    static_assert(static_cast<reduction>(Program::end.a) == reduction::sum);
    constexpr std::ptrdiff_t at_once = Program::flat && Channels == 1 ? simd<T>::width : 1;
    T sum[size_t(at_once * Channels)] = {};
    std::ptrdiff_t sample = 0;
    auto const add = [&](std::ptrdiff_t i) {
        sum[i] += evaluate<Program>(a, point{sample, 0, i, 1, Channels});
    };
    for (; sample + at_once <= samples; sample += at_once) {
        for (std::ptrdiff_t i = 0; i < at_once * Channels; ++i) {
            add(i);
        }
    }
    for (; sample < samples; ++sample) {
        for (std::ptrdiff_t i = 0; i < Channels; ++i) {
            add(i);
        }
    }
    constexpr std::ptrdiff_t results = (Program::end.b & 4) != 0 ? Channels : 1;
    for (std::ptrdiff_t i = 0; i < results; ++i) {
        T total = 0;
        for (std::ptrdiff_t k = i; k < at_once * Channels; k += results) {
            total += sum[k];
        }
        out[i] = total * factor;
    }
}

// Predictions of single samples are one function, in which results stay in registers for the next
// launch: to store and load them takes as long as some of these launches.
template <class Plan>
constexpr bool is_one_function(Plan const& p) {
    return p.batch == 1 && p.elements(region::gradients) == 0;
}

// A constant_launch, with the scalars of its plan, the factor of its sum, and the regions of the
// context's memory; `Single`: of a plan for one sample. Always inline: who calls it tells GCC 12
// that memory is written.
template <class Step, bool Single, class T>
[[gnu::always_inline]] inline void small_launch(double const* scalars, double factor,
                                                context<T> const& c, T* const* regions) {
    using Program = typename Step::code;
    static constexpr kernel_launch s = Step::numbers;
    static constexpr array_ref in = Step::arrays[0], out = Step::arrays[s.output];
    // Small plans have no chunks, so the first sample is always that of the batch.
    auto const at = [&](array_ref const& r) __attribute__((always_inline)) {
        return regions[static_cast<int>(r.where)] + r.offset + r.first_channel;
    };
    // Where a single sample is missing, its values may be anything, but sums must be 0.
    std::ptrdiff_t const samples = Single && out.size.sample ? 1 : c.samples;
    T* const to = at(out);
    if constexpr (is_unhurried(s)) {
        map<Program>(s, {Step::arrays, scalars, nullptr}, c);
    } else if constexpr (s.kind == op::map || s.kind == op::reduce) {
        constexpr int channels = static_cast<int>(s.space.count());
        program_arguments<T> const a = arguments_here(s, {Step::arrays, scalars, nullptr}, c, at);
        if constexpr (s.kind == op::map) {
            small_map<Program, channels>(a, s.space.sample ? samples : 1, to);
        } else if constexpr ((Program::end.b & 1) != 0) {
            small_reduce<Program, channels>(a, samples, static_cast<T>(factor), to);
        } else {
            small_sum<Program, channels>(a, samples, static_cast<T>(factor), to);
        }
    } else if constexpr (s.kind == op::copy) {
        std::copy_n(at(in), out.size.count() * (out.size.sample ? samples : 1), to);
    } else {
        static constexpr array_ref other = Step::arrays[1];
        T const *const a = at(in), *const b = at(other);
        constexpr int from = in.size.channels;
        // Sums of a single row begin with it, where it fills vectors.
        constexpr bool begins = Single && s.kind == op::matmul && s.end.bias && !s.end.activates &&
                                (out.size.channels == 1 || out.size.channels % simd<T>::width == 0);
        [[maybe_unused]] T const* const bias = begins ? at(Step::arrays[s.arrays - 1]) : nullptr;
        if constexpr (s.kind == op::matmul && out.size.channels == 1) {
            small_column<from>(samples, a, b, to, bias);
        } else if constexpr (s.kind == op::matmul) {
            constexpr int units = out.size.channels;
            if constexpr (Single && reads_alternately<from, units, T>()) {
                alternating_row_product<from, units>(a, b, to, bias, c.backwards);
            } else if constexpr (Single) {
                small_row_product<from, units>(a, b, units, to, bias);
            } else {
                small_product<units>(samples, from, a, from, 1, b, units, to, units);
            }
        } else if constexpr (s.kind == op::matmul_data) {
            constexpr int features = out.size.channels;
            T turned[from * features + 2 * simd<T>::width];
            transpose(features, from, b, from, turned, features);
            small_product<features>(samples, from, a, from, 1, turned, features, to, features);
        } else if constexpr (other.size.channels == 1) { // a weight's only column, as a row
            small_product<from>(1, samples, b, 0, 1, a, from, to, from);
        } else {
            constexpr int units = other.size.channels;
            small_product<units>(from, samples, a, 1, from, b, units, to, units);
        }
        if constexpr (s.end.bias && !begins) {
            program_arguments<T> const p =
                arguments_here(epilogue_launch(s), {Step::arrays, scalars, nullptr}, c, at);
            small_map<Program, out.size.channels>(p, samples, to);
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
