// Convolutions in groups of so few channels that a product for each group would be small: depthwise
// ones, where every channel has filters of its own, and groups that share a vector. Vectors lie
// along the filters of all groups.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/tile.hpp>
#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/depthwise_row.hpp>
#include <castnet/device/cpu/epilogue.hpp>
#include <castnet/device/cpu/grouped_pixels.hpp>
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
                        weights.end,
                        from.is_fetched()};
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
    tap_axis const across = horizontal_axis(w);
    tap_run const row = output_run(across, 0, w.out_width);
    bool const in_rows = joined.filters == weights.filters && is_row(row);
    for (std::ptrdiff_t i = 0; i < c.samples; ++i) {
        T const* const x = c.at(t.arrays[s.first_array]) + i * image_count(w);
        grouped_image<T const> const from{widened(w, x, scratch), w.height, w.width, w.filters};
        grouped_image<T> const to{c.at(t.arrays[s.output]) + i * result_count(w), w.out_height,
                                  w.out_width, w.filters};
        share_range(w.out_height, conv_work(w, 1), [&](std::ptrdiff_t first, std::ptrdiff_t last) {
            for_each_output_run(vertical_axis(w), int(first), int(last), [&](tap_run const& rows) {
                if constexpr (Group == 1) {
                    if (in_rows) {
                        depthwise_rows(w, rows, row, weights, from, to);
                        return;
                    }
                }
                for_each_output_run(across, 0, w.out_width, [&](tap_run const& columns) {
                    joined_rectangle<Group>(w, rows, columns, weights, joined, from, to);
                });
            });
        });
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
