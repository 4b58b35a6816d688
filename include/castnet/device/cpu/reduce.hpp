// Reduction kernels: fused programs whose results are reduced on the way.
#pragma once

#include <castnet/core/exponential.hpp>
#include <castnet/core/logarithm.hpp>
#include <castnet/core/select.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/map.hpp>
#include <castnet/device/cpu/reduce_row.hpp>
#include <castnet/device/reducer.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// All points of these samples and pixels to one number.
template <class Program, reduction R, class T>
[[gnu::noinline]] T reduce_all(kernel_launch const& s, program_arguments<T> const& a, range samples,
                               range pixels) {
    reducer<R, T> r;
    std::ptrdiff_t const p = s.space.pixels, c = s.space.channels;
    if constexpr (Program::flat && (R == reduction::sum || R == reduction::max)) {
        if (pixels.first == 0 && pixels.last == p) { // one row
            r = with_row<Program>(r, a, {0, 0, samples.first * p * c, 1, samples.last * p * c},
                                  (samples.last - samples.first) * p * c);
            return r.result(static_cast<T>(s.factor));
        }
    }
    for (std::ptrdiff_t sample = samples.first; sample < samples.last; ++sample) {
        for (std::ptrdiff_t pixel = pixels.first; pixel < pixels.last; ++pixel) {
            if (c >= simd<T>::width || R == reduction::log_sum_exp) {
                r = with_row<Program>(r, a, {sample, pixel, 0, p, c}, c);
                continue;
            }
            for (std::ptrdiff_t channel = 0; channel < c; ++channel) {
                r.take(evaluate<Program>(a, point{sample, pixel, channel, p, c}), channel);
            }
        }
    }
    if constexpr (R == reduction::log_sum_exp) { // by the function of vectors, too
        return r.best + elementary::log(r.total);
    } else {
        return r.result(static_cast<T>(s.factor));
    }
}

// Rows of as many channels are reduced one by one. In shorter ones most of a vector would be empty.
template <class T>
inline constexpr std::ptrdiff_t long_row = std::ptrdiff_t{2} * simd<T>::width;

// The rows of as many pixels as a vector has lanes, from this one on, each to its sum: vectors lie
// along the channels, and the results are those of reduce_all.
template <class Program, class T>
[[gnu::noinline]] void sum_pixels(kernel_launch const& s, program_arguments<T> const& a,
                                  std::ptrdiff_t sample, std::ptrdiff_t pixel, T* out) {
    constexpr std::ptrdiff_t width = simd<T>::width;
    std::ptrdiff_t const p = s.space.pixels, c = s.space.channels;
    T part[size_t(width)][size_t(width)] = {};
    for (std::ptrdiff_t i = 0; i < width; ++i) {
        T x[size_t(row_piece)];
        point const first{sample, pixel + i, 0, p, c};
        CASTNET_SIMD
        for (std::ptrdiff_t k = 0; k < c; ++k) {
            x[k] = evaluate_channel<Program>(a, first, k);
        }
        add_parts(x, c, part[i]);
    }
    join_parts(part, static_cast<T>(s.factor), out);
}

// The same for any reduction: vectors lie along the pixels where those of channels would be half
// empty.
template <class Program, reduction R, class T>
[[gnu::noinline]] void reduce_pixels(kernel_launch const& s, program_arguments<T> const& a,
                                     std::ptrdiff_t sample, std::ptrdiff_t pixel, T* out) {
    constexpr std::ptrdiff_t width = simd<T>::width;
    std::ptrdiff_t const c = s.space.channels;
    if constexpr (R == reduction::sum) {
        if (c % width == 0 || c >= long_row<T>) {
            return sum_pixels<Program>(s, a, sample, pixel, out);
        }
    }
    T x[size_t(long_row<T>)][size_t(width)];
    auto const lanes = [](auto const& f) __attribute__((always_inline)) {
        CASTNET_SIMD
        for (std::ptrdiff_t i = 0; i < width; ++i) {
            f(i);
        }
    };
    for (std::ptrdiff_t k = 0; k < c; ++k) {
        lanes([&](std::ptrdiff_t i) __attribute__((always_inline)) {
            x[k][i] = evaluate<Program>(a, point{sample, pixel + i, k, s.space.pixels, c});
        });
    }
    if constexpr (R == reduction::sum) {
        for (std::ptrdiff_t k = width; k < c; ++k) { // as sum_of does
            lanes([&](std::ptrdiff_t i) { x[k - width][i] += x[k][i]; });
        }
        T total[size_t(width)] = {};
        for (std::ptrdiff_t k = 0; k < c && k < width; ++k) { // (GCC warns of std::min at -O3)
            lanes([&](std::ptrdiff_t i) { total[i] += x[k][i]; });
        }
        lanes([&](std::ptrdiff_t i) { out[i] = total[i] * static_cast<T>(s.factor); });
    } else {
        T best[size_t(width)];
        std::fill_n(best, width, minus_infinity<T>);
        for (std::ptrdiff_t k = 0; k < c; ++k) {
            lanes([&](std::ptrdiff_t i) {
                best[i] = function<fn::maximum>::value(x[k][i], best[i]);
            });
        }
        if constexpr (R == reduction::max) {
            std::copy_n(best, width, out);
        } else { // as log_sum_exp_of_few does
            T total[size_t(width)] = {};
            for (std::ptrdiff_t k = 0; k < c; ++k) {
                lanes([&](std::ptrdiff_t i) {
                    T const y = x[k][i];
                    total[i] += elementary::exp(select(y == best[i], T(0), y - best[i]));
                });
            }
            lanes([&](std::ptrdiff_t i) { out[i] = best[i] + elementary::log(total[i]); });
        }
    }
}

// First value of a sum or maximum.
template <reduction R, class T>
inline constexpr T identity_of = R == reduction::sum ? T(0) : minus_infinity<T>;

// All points of these samples and pixels to one number per channel, together with what is there.
template <class Program, reduction R, class T>
[[gnu::noinline]] void join_channels(kernel_launch const& s, program_arguments<T> const& a,
                                     range samples, range pixels, T* out) {
    static_assert(R == reduction::sum || R == reduction::max);
    auto const join = [](T x, T& to) __attribute__((always_inline)) {
        if constexpr (R == reduction::sum) {
            to += x;
        } else {
            to = function<fn::maximum>::value(x, to);
        }
    };
    auto const join_rows = [&]<class P>(P, program_arguments<T> const& from, std::ptrdiff_t p,
                                        std::ptrdiff_t c, range of_samples, range rows,
                                        T* to) __attribute__((always_inline)) {
        for (std::ptrdiff_t sample = of_samples.first; sample < of_samples.last; ++sample) {
            for (std::ptrdiff_t pixel = rows.first; pixel < rows.last; ++pixel) {
                point const first{sample, pixel, 0, p, c};
                CASTNET_SIMD
                for (std::ptrdiff_t channel = 0; channel < c; ++channel) {
                    join(evaluate_channel<P>(from, first, channel), to[channel]);
                }
            }
        }
    };
    std::ptrdiff_t const p = s.space.pixels, c = s.space.channels;
    if constexpr (Program::joins_pixels) {
        std::ptrdiff_t const times = joined_pixels(p, c);
        if (times > 1 && pixels.last - pixels.first == p) {
            using joined = joined_channels<Program, T>;
            T sum[size_t(joined_row)];
            std::fill_n(sum, c * times, identity_of<R, T>);
            std::ptrdiff_t const step =
                Program::has_channels_of_samples ? 1 : samples.last - samples.first;
            for (std::ptrdiff_t first = samples.first; first < samples.last; first += step) {
                joined const here{a, first, c, times};
                join_rows(typename joined::program_type{}, here.arguments, p / times, c * times,
                          {first, first + step}, {0, p / times}, sum);
            }
            for (std::ptrdiff_t i = 0; i < c * times; i += c) {
                for (std::ptrdiff_t channel = 0; channel < c; ++channel) {
                    join(sum[i + channel], out[channel]);
                }
            }
            return;
        }
    }
    join_rows(Program{}, a, p, c, samples, pixels, out);
}

template <class Program, reduction R, class T>
void reduce_to_channels(kernel_launch const& s, program_arguments<T> const& a, range samples,
                        range pixels, T* out) {
    std::ptrdiff_t const c = s.space.channels;
    std::fill_n(out, c, identity_of<R, T>);
    join_channels<Program, R>(s, a, samples, pixels, out);
    if (R == reduction::sum && s.factor != 1) {
        for (std::ptrdiff_t channel = 0; channel < c; ++channel) {
            out[channel] *= static_cast<T>(s.factor);
        }
    }
}

// Sums over samples: each chunk has one, to which it adds.
constexpr std::ptrdiff_t chunk_sum_size(kernel_launch const& s, instruction const& end) {
    bool const sum = s.space.sample && (end.b & 3) == 0;
    return !sum ? 0 : (end.b & 4) != 0 ? s.space.channels : 1;
}

template <class Program, class T>
void reduce_begin(kernel_launch const& s, tables const& t, context<T> const& c) {
    std::fill_n(c.sum_at(t.arrays[s.sums]), chunk_sum_size(s, Program::end), T(0));
}

template <class Program, class T>
void reduce_chunk(kernel_launch const& s, tables const& t, context<T> const& c) {
    program_arguments<T> const a = arguments_of(s, t, c);
    range const samples{0, c.samples}, pixels{0, s.space.pixels};
    T* const sum = c.sum_at(t.arrays[s.sums]);
    if constexpr ((Program::end.b & 4) != 0) {
        join_channels<Program, reduction::sum>(s, a, samples, pixels, sum);
    } else {
        kernel_launch unscaled = s;
        unscaled.factor = 1;
        *sum += reduce_all<Program, reduction::sum>(unscaled, a, samples, pixels);
    }
}

template <class Program, class T>
void reduce_finish(kernel_launch const& s, tables const& t, context<T> const& c) {
    add_chunks(t.arrays[s.sums], c, chunk_sum_size(s, Program::end), static_cast<T>(s.factor),
               c.at(t.arrays[s.output]));
}

template <class Program, class T>
void reduce(kernel_launch const& s, tables const& t, context<T> const& c) {
    constexpr reduction kind = static_cast<reduction>(Program::end.a);
    constexpr bool keep_samples = (Program::end.b & 1) != 0;
    constexpr bool keep_pixels = (Program::end.b & 2) != 0;
    constexpr bool keep_channels = (Program::end.b & 4) != 0;
    program_arguments<T> const a = arguments_of(s, t, c);
    T* const out = c.at(t.arrays[s.output]);
    std::ptrdiff_t const samples = s.space.sample ? c.samples : 1;
    std::ptrdiff_t const pixels = s.space.pixels;
    std::ptrdiff_t const width = keep_channels ? s.space.channels : 1;
    double const work = double(samples * pixels * s.space.channels * Program::size);
    auto const piece = [&](range of_samples, range of_pixels, T* to) {
        if constexpr (keep_channels) {
            reduce_to_channels<Program, kind>(s, a, of_samples, of_pixels, to);
        } else {
            *to = reduce_all<Program, kind>(s, a, of_samples, of_pixels);
        }
    };
    if constexpr (keep_samples || keep_pixels) {
        std::ptrdiff_t const outer = keep_pixels ? pixels : 1;
        if (c.iteration >= 0) { // samples and pixels are kept
            pixel_rows const rows = rows_of(t.arrays[s.output].size, c);
            for (std::ptrdiff_t sample = 0; sample < samples; ++sample) {
                piece({sample, sample + 1}, {c.iteration, c.iteration + 1},
                      out + rows(sample) * width);
            }
            return;
        }
        if constexpr (keep_samples && keep_pixels && !keep_channels &&
                      (kind == reduction::sum || kind == reduction::max ||
                       kind == reduction::log_sum_exp)) {
            constexpr std::ptrdiff_t lanes = simd<T>::width;
            constexpr std::ptrdiff_t longest = kind == reduction::sum ? row_piece : long_row<T> - 1;
            if (pixels >= lanes && s.space.channels <= longest) {
                std::ptrdiff_t const blocks = (pixels + lanes - 1) / lanes;
                parallel_for(samples * blocks, work, [&](std::ptrdiff_t i) {
                    T y[size_t(lanes)];
                    std::ptrdiff_t const sample = i / blocks, first = i % blocks * lanes;
                    std::ptrdiff_t const from = std::min(first, pixels - lanes); // repeats some
                    reduce_pixels<Program, kind>(s, a, sample, from, y);
                    std::copy(y + (first - from), y + lanes, out + sample * pixels + first);
                });
                return;
            }
        }
        parallel_for((keep_samples ? samples : 1) * outer, work, [&](std::ptrdiff_t i) {
            std::ptrdiff_t const sample = i / outer, pixel = i % outer;
            piece(keep_samples ? range{sample, sample + 1} : range{0, samples},
                  keep_pixels ? range{pixel, pixel + 1} : range{0, pixels}, out + i * width);
        });
    } else {
        if (!s.space.sample) {
            piece({0, 1}, {0, pixels}, out);
            return;
        }
        if constexpr (kind == reduction::sum) { // over samples there is no other
            parallel_for(chunks_in_use(samples), work, [&](std::ptrdiff_t chunk) {
                context<T> mine = c;
                mine.chunk = chunk;
                mine.first = chunk_begin(samples, chunk);
                mine.samples = chunk_begin(samples, chunk + 1) - mine.first;
                reduce_begin<Program>(s, t, mine);
                reduce_chunk<Program>(s, t, mine);
            });
            reduce_finish<Program>(s, t, c);
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
