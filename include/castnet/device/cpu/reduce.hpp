// Fused element-wise programs whose results are reduced on the way.
#pragma once

#include <castnet/device/cpu/map.hpp>
#include <castnet/device/reducer.hpp>

#include <limits>

namespace castnet::cpu {

struct range {
    std::ptrdiff_t first, last;
};

// All points of these samples and pixels to one number.
template <class Program, reduction R, class T>
T reduce_all(step const& s, program_arguments<T> const& a, range samples, range pixels) {
    reducer<R, T> r;
    std::ptrdiff_t const p = s.space.pixels, c = s.space.channels;
    for (std::ptrdiff_t sample = samples.first; sample < samples.last; ++sample) {
        for (std::ptrdiff_t pixel = pixels.first; pixel < pixels.last; ++pixel) {
            for (std::ptrdiff_t channel = 0; channel < c; ++channel) {
                r.take(evaluate<Program>(a, point{sample, pixel, channel, p, c}), channel);
            }
        }
    }
    return r.result(static_cast<T>(s.factor));
}

// All points of these samples and pixels to one number per channel.
template <class Program, reduction R, class T>
void reduce_to_channels(step const& s, program_arguments<T> const& a, range samples, range pixels,
                        T* out) {
    static_assert(R == reduction::sum || R == reduction::max);
    std::ptrdiff_t const p = s.space.pixels, c = s.space.channels;
    for (std::ptrdiff_t channel = 0; channel < c; ++channel) {
        out[channel] = R == reduction::sum ? T(0) : -std::numeric_limits<T>::infinity();
    }
    for (std::ptrdiff_t sample = samples.first; sample < samples.last; ++sample) {
        for (std::ptrdiff_t pixel = pixels.first; pixel < pixels.last; ++pixel) {
            CASTNET_IVDEP
            for (std::ptrdiff_t channel = 0; channel < c; ++channel) {
                T const x = evaluate<Program>(a, point{sample, pixel, channel, p, c});
                if constexpr (R == reduction::sum) {
                    out[channel] += x;
                } else {
                    out[channel] = x > out[channel] ? x : out[channel];
                }
            }
        }
    }
    if (R == reduction::sum && s.factor != 1) {
        for (std::ptrdiff_t channel = 0; channel < c; ++channel) {
            out[channel] *= static_cast<T>(s.factor);
        }
    }
}

template <class Program, class T>
void reduce(step const& s, tables const& t, context<T> const& c) {
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
        parallel_for((keep_samples ? samples : 1) * outer, work, [&](std::ptrdiff_t i) {
            std::ptrdiff_t const sample = i / outer, pixel = i % outer;
            piece(keep_samples ? range{sample, sample + 1} : range{0, samples},
                  keep_pixels ? range{pixel, pixel + 1} : range{0, pixels}, out + i * width);
        });
    } else {
        static_assert(kind == reduction::sum);
        if (!s.space.sample) {
            piece({0, 1}, {0, pixels}, out);
            return;
        }
        T* const partial = c.at(t.arrays[s.scratch]);
        parallel_for(lanes, work, [&](std::ptrdiff_t lane) {
            piece({lane_begin(samples, lane), lane_begin(samples, lane + 1)}, {0, pixels},
                  partial + lane * width);
        });
        for (std::ptrdiff_t i = 0; i < width; ++i) {
            T total = 0;
            for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
                total += partial[lane * width + i];
            }
            out[i] = total;
        }
    }
}

} // namespace castnet::cpu
