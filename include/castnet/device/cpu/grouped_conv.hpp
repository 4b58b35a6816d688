// Convolutions in groups of so few channels that a product for each group would be small: depthwise
// ones, where every channel has filters of its own, and groups that share a vector. Vectors lie
// along the filters of all groups.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/tile.hpp>
#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/epilogue.hpp>
#include <castnet/device/cpu/joined_columns.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/sliding.hpp>
#include <castnet/device/cpu/taps.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/cpu/tuning.hpp>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

// The channels, and filters, of a group of a convolution that these kernels compute; 0 for others,
// whose groups fill vectors. The only decision which convolutions they compute.
template <class T>
constexpr int group_in_vector(window const& w) {
    int const size = w.channels / w.groups;
    bool const fits =
        w.groups > 1 && w.filters == w.channels && size <= simd<T>::width && sums_by_chunk(w);
    return is_depthwise(w) ? 1 : fits && (size == 4 || size == 8) ? size : 0;
}

// Calls f(std::integral_constant<int, Group>) for one of the sizes that group_in_vector gives.
template <class T, class F>
constexpr auto with_group(int group, F const& f) {
    constexpr int width = simd<T>::width;
    return group == 4   ? f(std::integral_constant<int, std::min(4, width)>{})
           : group == 8 ? f(std::integral_constant<int, std::min(8, width)>{})
                        : f(std::integral_constant<int, 1>{});
}

// Factors for a vector of filters, of the elements at `from`: channel I of each filter's group.
template <int Group, int I, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline auto spread(T const* from) {
    if constexpr (Group == simd<T>::width) {
        return from[I];
    } else {
        vec<T> const x = *reinterpret_cast<vec<T> const*>(from);
        return [&]<int... Chunk>(std::integer_sequence<int, Chunk...>)
                   __attribute__((always_inline)) {
                       return vec<T>{x[Chunk / Group * Group + I]...};
                   }(std::make_integer_sequence<int, simd<T>::width>{});
    }
}
// Calls f(std::integral_constant<int, I>) for all channels of a group.
template <int Group, class F>
[[gnu::always_inline]] inline void for_each_channel(F const& f) {
    [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
        (..., f(std::integral_constant<int, I>{}));
    }(std::make_integer_sequence<int, Group>{});
}

// With several filters for each channel, the kernels work on a copy of the image that has a channel
// for each filter.
constexpr std::ptrdiff_t widened_scratch(window const& w) {
    return w.filters > w.channels ? aligned(std::ptrdiff_t{w.height} * w.width * w.filters) : 0;
}
// Calls f with the number of filters for a channel, where it is small as a constant.
template <class F>
void with_multiplier(int filters, F const& f) {
    switch (filters) {
    case 2:
        f(std::integral_constant<int, 2>{});
        break;
    case 3:
        f(std::integral_constant<int, 3>{});
        break;
    case 4:
        f(std::integral_constant<int, 4>{});
        break;
    default:
        f(filters);
    }
}
template <class T>
T const* widened(window const& w, T const* x, T* scratch) {
    if (w.filters == w.channels) {
        return x;
    }
    with_multiplier(w.filters / w.channels, [&](auto filters) {
        for (std::ptrdiff_t i = 0; i < image_count(w); ++i) {
            for (int k = 0; k < filters; ++k) {
                scratch[i * filters + k] = x[i];
            }
        }
    });
    return scratch;
}

// Operands and results of some pixels that meet the same taps.
template <class T>
struct met_taps {
    std::ptrdiff_t filters;
    int rows, columns;                    // of taps
    std::ptrdiff_t next_row, next_column; // in the source
    std::ptrdiff_t weight_row, weight_column;
    T const* weight;
    tile_end<T> end;
};

// Pixels that are computed at once, and vectors of filters: of few pixels several, so that their
// sums need not wait for each other.
inline constexpr int pixels_at_once = 8;
constexpr int vectors_at_once(int pixels) {
    return pixels > 4 ? 1 : pixels > 2 ? 2 : 4;
}

// Pixels that begin `from_step` and `to_step` apart, `count` of their filters, in blocks of Vectors
// vectors. The last block ends with them, so it repeats some.
template <int Group, int Pixels, int Vectors, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
grouped_filters(met_taps<T> const& t, T const* from, std::ptrdiff_t from_step, T* to,
                std::ptrdiff_t to_step, std::ptrdiff_t first, std::ptrdiff_t count) {
    constexpr std::ptrdiff_t width = simd<T>::width, block = Vectors * width;
    std::ptrdiff_t const filters = t.filters, last = first + count - block;
    std::ptrdiff_t const next_row = t.next_row, next_column = t.next_column;
    std::ptrdiff_t const weight_row = t.weight_row, weight_column = t.weight_column;
    std::ptrdiff_t const rows = t.rows, columns = t.columns;
    tile_end<T> end = t.end;
    T const* weights = t.weight + first;
    for (from += first, to += first;;) {
        vec<T> sum[size_t(Pixels)][size_t(Vectors)] = {};
        T const* row = from;
        T const* weight_of_row = weights;
        for (std::ptrdiff_t i = rows; i > 0; --i, row += next_row, weight_of_row += weight_row) {
            T const* x = row;
            T const* weight = weight_of_row;
            for (std::ptrdiff_t j = columns; j > 0;
                 --j, x += next_column, weight += weight_column) {
                for_each_channel<Group>(
                    [&]<int I>(std::integral_constant<int, I>) __attribute__((always_inline)) {
                        CASTNET_UNROLL
                        for (int v = 0; v < Vectors; ++v) {
                            vec<T> const right =
                                *reinterpret_cast<vec<T> const*>(weight + I * filters + v * width);
                            CASTNET_UNROLL
                            for (int k = 0; k < Pixels; ++k) {
                                sum[k][v] =
                                    multiply_add(spread<Group, I>(x + k * from_step + v * width),
                                                 right, sum[k][v]);
                            }
                        }
                    });
            }
        }
        finish_sums<Pixels, Vectors, T>(sum, end, first);
        if (Vectors == 1 && count < width) {
            T part[size_t(Pixels)][size_t(width)];
            CASTNET_UNROLL
            for (int k = 0; k < Pixels; ++k) {
                *reinterpret_cast<vec<T>*>(part[k]) = sum[k][0];
            }
            for (int k = 0; k < Pixels; ++k) {
                std::copy_n(part[k], count, to + k * to_step);
            }
            return;
        }
        CASTNET_UNROLL
        for (int k = 0; k < Pixels; ++k) {
            CASTNET_UNROLL
            for (int v = 0; v < Vectors; ++v) {
                *reinterpret_cast<vec<T>*>(to + k * to_step + v * width) = sum[k][v];
            }
        }
        if (first == last) {
            return;
        }
        std::ptrdiff_t const step = std::min(block, last - first);
        first += step;
        from += step;
        weights += step;
        to += step;
    }
}
// The same, in as many vectors at once as the filters fill.
template <int Group, int Pixels, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
grouped_pixels(met_taps<T> const& t, T const* from, std::ptrdiff_t from_step, T* to,
               std::ptrdiff_t to_step, std::ptrdiff_t first, std::ptrdiff_t count) {
    constexpr int vectors = vectors_at_once(Pixels);
    if (constexpr std::ptrdiff_t block = vectors * simd<T>::width; vectors > 1 && count >= block) {
        grouped_filters<Group, Pixels, vectors>(t, from, from_step, to, to_step, first, count);
    } else {
        grouped_filters<Group, Pixels, 1>(t, from, from_step, to, to_step, first, count);
    }
}

// An image as the kernels see it, a channel for each filter.
template <class T>
struct grouped_image {
    T* data;
    std::ptrdiff_t width, filters;

    std::ptrdiff_t row() const { return width * filters; }
    T* at(std::ptrdiff_t y, std::ptrdiff_t x) const { return data + (y * width + x) * filters; }
};

// In how many blocks of filters some pixels of line after line are computed, so that the L1 cache
// still holds the part of the image that the next line reads again.
template <class T>
constexpr std::ptrdiff_t filter_blocks(std::ptrdiff_t filters, int rows, int columns) {
    constexpr std::ptrdiff_t most = l1_cache * 3 / 4;
    std::ptrdiff_t const vectors = std::max(filters / simd<T>::width, std::ptrdiff_t{1});
    std::ptrdiff_t const bytes = vectors * vector_bytes * rows * (columns + pixels_at_once);
    return std::min(bytes / most + 1, vectors);
}

// The results at the crossings of two runs.
template <int Group, class T>
void grouped_rectangle(window const& w, tap_run const& rows, tap_run const& columns,
                       grouped_weights<T> const& weights, grouped_image<T const> const& from,
                       grouped_image<T> const& to) {
    std::ptrdiff_t const tap = std::ptrdiff_t{Group} * weights.filters;
    met_taps<T> const t{weights.filters,
                        rows.taps,
                        columns.taps,
                        rows.by_tap * from.row(),
                        columns.by_tap * from.filters,
                        std::ptrdiff_t{rows.tap_step} * w.kernel_w * tap,
                        columns.tap_step * tap,
                        weights.data + (rows.tap * w.kernel_w + columns.tap) * tap,
                        weights.end};
    static constexpr auto tiles = []<size_t... I>(std::index_sequence<I...>) {
        return std::array{&grouped_pixels<Group, int(I) + 1, T>...};
    }(std::make_index_sequence<pixels_at_once>{});
    // tiles lie along the longer side
    std::ptrdiff_t from_step = columns.by_result * from.filters,
                   to_step = columns.result_step * to.filters;
    std::ptrdiff_t next_from = rows.by_result * from.row(), next_to = rows.result_step * to.row();
    int pixels = columns.results, lines = rows.results;
    if (pixels < lines) {
        std::swap(from_step, next_from);
        std::swap(to_step, next_to);
        std::swap(pixels, lines);
    }
    T const* x = from.at(rows.source, columns.source);
    T* y = to.at(rows.result, columns.result);
    std::ptrdiff_t const filters = weights.filters, vectors = filters / simd<T>::width;
    std::ptrdiff_t const blocks = filter_blocks<T>(filters, rows.taps, columns.taps);
    for (int pixel = 0; pixel < pixels; pixel += pixels_at_once) {
        int const here = std::min(pixels_at_once, pixels - pixel);
        for (std::ptrdiff_t block = 1, first = 0; block <= blocks; ++block) {
            std::ptrdiff_t const last =
                block < blocks ? vectors * block / blocks * simd<T>::width : filters;
            for (int line = 0; line < lines; ++line) {
                tiles[size_t(here) - 1](t, x + line * next_from + pixel * from_step, from_step,
                                        y + line * next_to + pixel * to_step, to_step, first,
                                        last - first);
            }
            first = last;
        }
    }
}

// The same, with columns joined where there are enough. The last ones end with the run, so they
// repeat some.
template <int Group, class T>
void joined_rectangle(window const& w, tap_run const& rows, tap_run const& columns,
                      grouped_weights<T> const& one, grouped_weights<T> const& many,
                      grouped_image<T const> const& from, grouped_image<T> const& to) {
    int const joined = int(many.filters / one.filters);
    if (joined == 1 || columns.results < joined) {
        grouped_rectangle<Group>(w, rows, columns, one, from, to);
        return;
    }
    tap_run run = columns;
    run.results = columns.results / joined;
    run.by_result = run.result_step = joined;
    grouped_rectangle<Group>(w, rows, run, many, from, to);
    if (columns.results % joined > 0) {
        run.source += columns.results - joined;
        run.result += columns.results - joined;
        run.results = 1;
        grouped_rectangle<Group>(w, rows, run, many, from, to);
    }
}

template <int Group, class T>
void grouped_conv(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T* const scratch = scratch_of(s, t, c);
    grouped_weights<T> const weights{c.at(t.arrays[s.first_array + 1]), tile_end_of(s, t, c),
                                     w.filters};
    grouped_weights<T> const joined =
        join_columns(w, weights, w.out_width, scratch + widened_scratch(w));
    for (std::ptrdiff_t i = 0; i < c.samples; ++i) {
        T const* const x = c.at(t.arrays[s.first_array]) + i * image_count(w);
        grouped_image<T const> const from{widened(w, x, scratch), w.width, w.filters};
        grouped_image<T> const to{c.at(t.arrays[s.output]) + i * result_count(w), w.out_width,
                                  w.filters};
        share_range(w.out_height, conv_work(w, 1), [&](std::ptrdiff_t first, std::ptrdiff_t last) {
            for_each_output_run(vertical_axis(w), int(first), int(last), [&](tap_run const& rows) {
                for_each_output_run(
                    horizontal_axis(w), 0, w.out_width, [&](tap_run const& columns) {
                        joined_rectangle<Group>(w, rows, columns, weights, joined, from, to);
                    });
            });
        });
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
