// Element-wise kernels: fused programs that store their result at every point.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/philox_words.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/sine_blocks.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/plan/evaluate.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace castnet::cpu::inline CASTNET_TARGET {

// For launches that are constants, of which it leaves no more than what the program reads;
// address(array) is where an array begins.
template <class T, class Address>
[[gnu::always_inline]] inline program_arguments<T>
arguments_here(kernel_launch const& s, tables const& t, context<T> const& c,
               Address const& address) {
    program_arguments<T> a{};
    for (int i = 0; i < s.arrays; ++i) {
        a.array[i] = address(t.arrays[s.first_array + i]);
        a.row[i] = t.arrays[s.first_array + i].row;
    }
    a.result_row = t.arrays[s.output].row;
    for (int i = 0; i < s.scalars; ++i) {
        a.scalar[i] = static_cast<T>(t.scalars[s.first_scalar + i]);
    }
    a.key = c.key;
    a.step = c.step;
    a.first_sample = c.first_sample + static_cast<std::uint32_t>(c.first);
    a.first_stream = static_cast<std::uint32_t>(c.repetition * s.random_streams);
    return a;
}
template <class T>
[[gnu::noinline]] program_arguments<T> arguments_of(kernel_launch const& s, tables const& t,
                                                    context<T> const& c) {
    return arguments_here(s, t, c, [&](array_ref const& r) { return c.at(r); });
}

// The random words of a program with one random stream, for neighbouring points of a sample: whole
// blocks of four, computed side by side.
class random_words {
public:
    static constexpr std::ptrdiff_t most = 64; // points at once

    template <class T>
    void draw(program_arguments<T> const& a, std::uint32_t stream, point const& p,
              std::ptrdiff_t count) {
        std::ptrdiff_t const element = p.pixel * p.channels + p.channel, first = element / 4;
        std::ptrdiff_t const blocks = (element + count + 3) / 4 - first;
        std::uint64_t pairs[2][most_blocks];
        philox_words(a.key, pair_of(a.first_stream + stream, a.step),
                     pair_of(static_cast<std::uint32_t>(first),
                             a.first_sample + static_cast<std::uint32_t>(p.sample)),
                     static_cast<std::size_t>(blocks), pairs);
        for (std::ptrdiff_t i = 0; i < blocks; ++i) {
            for (int k = 0; k < 4; ++k) {
                words_[4 * i + k] = static_cast<std::uint32_t>(pairs[k / 2][i] >> 32 * (1 - k % 2));
            }
        }
        shift_ = element % 4 - p.channel;
    }

    template <class T>
    CASTNET_HD std::uint32_t operator()(program_arguments<T> const&, std::uint32_t,
                                        point const& p) const {
        return words_[shift_ + p.channel];
    }

private:
    static constexpr std::ptrdiff_t most_blocks = most / 4 + philox_counters;
    static constexpr std::uint64_t pair_of(std::uint32_t low, std::uint32_t high) {
        return std::uint64_t{high} << 32 | low;
    }

    std::uint32_t words_[4 * most_blocks];
    std::ptrdiff_t shift_ = 0;
};

// The channels i to end - 1 after p.
template <class Program, class T, class... Random>
[[gnu::always_inline]] inline void map_channels(program_arguments<T> const& a, T* to,
                                                point const& p, std::ptrdiff_t i,
                                                std::ptrdiff_t end, Random const&... random) {
#ifdef __clang__
    // Clang looks at run time whether the result overlaps with what is read, as one that is
    // computed in place does, and would take one number at a time then.
    auto const in_blocks = [&]<std::ptrdiff_t Size>(std::integral_constant<std::ptrdiff_t, Size>)
                               __attribute__((always_inline)) {
                                   for (; i + Size <= end; i += Size) {
                                       T results[Size];
                                       for (std::ptrdiff_t k = 0; k < Size; ++k) {
                                           results[k] =
                                               evaluate_channel<Program>(a, p, i + k, random...);
                                       }
                                       std::copy_n(results, Size, to + i);
                                   }
                               };
    in_blocks(std::integral_constant<std::ptrdiff_t, 4 * simd<T>::width>{});
    in_blocks(std::integral_constant<std::ptrdiff_t, simd<T>::width>{});
#endif
    CASTNET_SIMD
    for (std::ptrdiff_t k = i; k < end; ++k) {
        to[k] = evaluate_channel<Program>(a, p, k, random...);
    }
}

// The points from p on, `count` channels of one row.
template <class Program, class T>
[[gnu::always_inline]] inline void map_row(program_arguments<T> const& a, T* out, point const& p,
                                           std::ptrdiff_t count) {
    T* const to = out + ir::offset_in<Program::stored>(p, a.result_row);
    auto const at = [&](std::ptrdiff_t i) {
        return point{p.sample, p.pixel, p.channel + i, p.pixels, p.channels};
    };
    if constexpr (Program::random_streams == 1) {
        random_words words;
        for (std::ptrdiff_t first = 0; first < count; first += random_words::most) {
            std::ptrdiff_t const end = std::min(first + random_words::most, count);
            words.draw(a, static_cast<std::uint32_t>(a.scalar[Program::stream]), at(first),
                       end - first);
            map_channels<Program>(a, to, p, first, end, words);
        }
    } else if constexpr (has_sines<Program> && elementary::Vectorized<T>) {
        std::ptrdiff_t i = 0;
        auto const in_blocks = [&]<size_t Size>(std::integral_constant<size_t, Size>) {
            for (; i + std::ptrdiff_t(Size) <= count; i += std::ptrdiff_t(Size)) {
                T results[Size];
                evaluate_block<Program, Size>(
                    a, [&](size_t k) { return at(i + std::ptrdiff_t(k)); }, results);
                std::copy_n(results, Size, to + i);
            }
        };
        in_blocks(std::integral_constant<size_t, 4 * simd<T>::width>{});
        in_blocks(std::integral_constant<size_t, simd<T>::width>{});
        in_blocks(std::integral_constant<size_t, 1>{});
    } else {
        map_channels<Program>(a, to, p, 0, count);
    }
}

// The points first to last - 1 of a space with this many pixels and channels, row by row.
template <class Program, class T>
void map_points(program_arguments<T> const& a, T* out, std::ptrdiff_t pixels,
                std::ptrdiff_t channels, std::ptrdiff_t first, std::ptrdiff_t last) {
    point p{first / channels / pixels, first / channels % pixels, first % channels, pixels,
            channels};
    while (first < last) {
        std::ptrdiff_t const count = std::min(channels - p.channel, last - first);
        map_row<Program>(a, out, p, count);
        first += count;
        p.channel = 0;
        if (++p.pixel == pixels) {
            p.pixel = 0;
            ++p.sample;
        }
    }
}

// Where there are few channels, as many pixels as this are one row, so that loops are not short.
inline constexpr std::ptrdiff_t few_channels = 64, joined_row = 256;
constexpr std::ptrdiff_t joined_pixels(std::ptrdiff_t pixels, std::ptrdiff_t channels) {
    if (channels > few_channels || pixels * channels < joined_row) {
        return 1;
    }
    auto const all = static_cast<int>(pixels);
    int count = static_cast<int>(joined_row / channels);
    while (all % count != 0) {
        --count;
    }
    return count;
}

// The arguments of a program for such rows of a sample, in which operands of channels are repeated;
// and the program that reads them. Where samples have no channels of their own, they are the same
// for all.
template <class Program, class T>
struct joined_channels {
    using program_type = typename Program::of_one_sample;
    program_arguments<T> arguments;
    T row[size_t(std::max(Program::channel_loads, 1))][size_t(joined_row)];

    joined_channels(program_arguments<T> const& a, std::ptrdiff_t sample, std::ptrdiff_t channels,
                    std::ptrdiff_t times)
        : arguments{a} {
        repeat_all(Program{}, a, sample, channels, times);
    }
    joined_channels(joined_channels const&) = delete;
    joined_channels& operator=(joined_channels const&) = delete;

private:
    template <instruction... I>
    void repeat_all(program<I...>, program_arguments<T> const& a,
                    [[maybe_unused]] std::ptrdiff_t sample, std::ptrdiff_t channels,
                    std::ptrdiff_t times) {
        [[maybe_unused]] T(*next)[size_t(joined_row)] = row;
        [[maybe_unused]] auto const repeat = [&](instruction const& i) {
            T const* from = a.array[i.a] + (i.loads_channels_of_samples() ? sample * channels : 0);
            if (times > 1) {
                std::copy_n(from, channels, *next);
                for (std::ptrdiff_t n = channels, all = channels * times; n < all; n *= 2) {
                    std::copy_n(*next, std::min(n, all - n), *next + n);
                }
                from = *next++;
            }
            arguments.array[i.a] = from;
        };
        (..., (I.loads_channels() ? repeat(I) : void()));
    }
};

// The same points, of one sample after the other where their channels differ.
template <class Program, class T>
void map_samples(program_arguments<T> const& a, T* out, std::ptrdiff_t pixels,
                 std::ptrdiff_t channels, std::ptrdiff_t times, std::ptrdiff_t first,
                 std::ptrdiff_t last) {
    using joined = joined_channels<Program, T>;
    std::ptrdiff_t const points = pixels * channels;
    while (first < last) {
        std::ptrdiff_t const sample = first / points, end = std::min(last, (sample + 1) * points);
        joined const here{a, sample, channels, times};
        map_points<typename joined::program_type>(here.arguments, out, pixels / times,
                                                  channels * times, first, end);
        first = end;
    }
}

template <class Program, class T>
void map(kernel_launch const& s, tables const& t, context<T> const& c) {
    constexpr bool by_sample = Program::joins_pixels && Program::has_channels_of_samples;
    program_arguments<T> const a = arguments_of(s, t, c);
    T* const out = c.at(t.arrays[s.output]);
    std::ptrdiff_t pixels = s.space.pixels, channels = s.space.channels;
    if (c.iteration >= 0) {
        for (std::ptrdiff_t sample = 0; sample < c.samples; ++sample) {
            std::ptrdiff_t const first = (sample * pixels + c.iteration) * channels;
            if constexpr (by_sample) {
                map_samples<Program>(a, out, pixels, channels, 1, first, first + channels);
            } else {
                map_points<Program>(a, out, pixels, channels, first, first + channels);
            }
        }
        return;
    }
    std::ptrdiff_t const points = (s.space.sample ? c.samples : 1) * pixels * channels;
    if constexpr (Program::flat) {
        pixels = 1;
        channels = points;
    }
    auto const in_pieces = [&](auto const& map_piece) {
        constexpr std::ptrdiff_t piece = 4096;
        parallel_for((points + piece - 1) / piece, double(points * Program::size),
                     [=, &map_piece](std::ptrdiff_t i) {
                         map_piece(i * piece, std::min((i + 1) * piece, points));
                     });
    };
    auto const map_pieces = [&](program_arguments<T> const& from) {
        in_pieces([=, &from](std::ptrdiff_t first, std::ptrdiff_t last) {
            map_points<Program>(from, out, pixels, channels, first, last);
        });
    };
    if constexpr (by_sample) {
        std::ptrdiff_t const times = joined_pixels(pixels, channels);
        in_pieces([=, &a](std::ptrdiff_t first, std::ptrdiff_t last) {
            map_samples<Program>(a, out, pixels, channels, times, first, last);
        });
    } else {
        if constexpr (!Program::flat && Program::joins_pixels) {
            if (std::ptrdiff_t const times = joined_pixels(pixels, channels); times > 1) {
                joined_channels<Program, T> const here{a, 0, channels, times};
                pixels /= times;
                channels *= times;
                map_pieces(here.arguments);
                return;
            }
        }
        map_pieces(a);
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
