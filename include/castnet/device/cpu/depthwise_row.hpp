// Rows of results of depthwise convolutions whose window moves by one pixel: a pixel that is in a
// register meets several taps of its row, and those outside the image are left out.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/tile.hpp>
#include <castnet/device/cpu/grouped_pixels.hpp>
#include <castnet/device/cpu/joined_columns.hpp>
#include <castnet/device/cpu/taps.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

// The taps of a row's results: all columns of the window, taken five, three or two at once, and the
// rows that lie in the image.
template <class T>
struct row_taps {
    std::ptrdiff_t filters;
    int rows, fives, threes, twos;
    std::ptrdiff_t next_row; // in the source
    std::ptrdiff_t weight_row, weight_column;
    T const* weight;
    tile_end<T> end;
};

// Fewer results of a row are computed as pixels that meet the same taps.
inline constexpr int least_in_row = 4;

// Adds the products with the next few taps of a row. `inside` has a bit for each pixel from `x` on
// that lies in the image.
template <int Taps, size_t Pixels, size_t Vectors, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
add_row_taps(vec<T> (&sum)[Pixels][Vectors], row_taps<T> const& t, T const* x, std::uint64_t inside,
             T const* weight) {
    constexpr int pixels = int(Pixels), vectors = int(Vectors), width = simd<T>::width;
    vec<T> right[size_t(Taps)][Vectors];
    CASTNET_UNROLL
    for (int j = 0; j < Taps; ++j) {
        CASTNET_UNROLL
        for (int v = 0; v < vectors; ++v) {
            right[j][v] =
                *reinterpret_cast<vec<T> const*>(weight + j * t.weight_column + v * width);
        }
    }
    CASTNET_UNROLL
    for (int i = 0; i < pixels + Taps - 1; ++i) {
        if (inside & (std::uint64_t{1} << i)) {
            CASTNET_UNROLL
            for (int v = 0; v < vectors; ++v) {
                vec<T> left = *reinterpret_cast<vec<T> const*>(x + i * t.filters + v * width);
                CASTNET_OPAQUE_VECTOR(left);
                CASTNET_UNROLL
                for (int j = 0; j < Taps; ++j) {
                    if (i - j >= 0 && i - j < pixels) {
                        sum[i - j][v] = multiply_add(left, right[j][v], sum[i - j][v]);
                    }
                }
            }
        }
    }
}

// Neighbouring results, `count` of their filters, in blocks of Vectors vectors. The last block ends
// with them, so it repeats some. Results are computed alike in every place.
template <int Pixels, int Vectors, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
row_filters(row_taps<T> const& t, T const* from, std::uint64_t inside, T* to, std::ptrdiff_t first,
            std::ptrdiff_t count) {
    constexpr std::ptrdiff_t block = Vectors * simd<T>::width;
    std::ptrdiff_t const filters = t.filters, last = first + count - block;
    for (;;) {
        vec<T> sum[size_t(Pixels)][size_t(Vectors)] = {};
        T const* row = from + first;
        T const* weight_of_row = t.weight + first;
        for (int i = t.rows; i > 0; --i, row += t.next_row, weight_of_row += t.weight_row) {
            T const* x = row;
            T const* weight = weight_of_row;
            std::uint64_t here = inside;
            auto const add = [&]<int Taps>(std::integral_constant<int, Taps>)
                                 __attribute__((always_inline)) {
                                     add_row_taps<Taps>(sum, t, x, here, weight);
                                     x += Taps * filters;
                                     weight += Taps * t.weight_column;
                                     here >>= Taps;
                                 };
            for (int n = 0; n < t.fives; ++n) {
                add(std::integral_constant<int, 5>{});
            }
            for (int n = 0; n < t.threes; ++n) {
                add(std::integral_constant<int, 3>{});
            }
            for (int n = 0; n < t.twos; ++n) {
                add(std::integral_constant<int, 2>{});
            }
        }
        finish_sums<Pixels, Vectors, T>(sum, t.end, first);
        if constexpr (Vectors == 1) {
            if (count < block) {
                store_part<Pixels, T>(sum, to + first, filters, count);
                return;
            }
        }
        store_whole<Pixels, Vectors, T>(sum, to + first, filters);
        if (first == last) {
            return;
        }
        first = std::min(first + block, last);
    }
}
template <int Pixels, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void row_pixels(row_taps<T> const& t, T const* from,
                                                       std::uint64_t inside, T* to,
                                                       std::ptrdiff_t first, std::ptrdiff_t count) {
    constexpr int vectors = Pixels > 4 ? 1 : 2;
    if (constexpr std::ptrdiff_t block = vectors * simd<T>::width; vectors > 1 && count >= block) {
        row_filters<Pixels, vectors>(t, from, inside, to, first, count);
    } else {
        row_filters<Pixels, 1>(t, from, inside, to, first, count);
    }
}

// Whether these results along a row, and the taps that they meet, lie side by side, and are
// computed so. Three taps read few pixels again: there only the ends of short rows are worth it,
// for vectors of 64 bytes.
constexpr bool is_row(tap_run const& all) {
    bool const ends_count = all.results <= pixels_at_once && vector_bytes >= 64;
    return all.by_result == 1 && all.by_tap == 1 && all.result_step == 1 &&
           all.results >= least_in_row && all.taps > (ends_count ? 1 : 3) &&
           all.taps + pixels_at_once <= 64; // bits
}

// The results of whole rows that meet the same rows of taps; `columns` is the run along a row
// whose taps may lie outside.
template <class T>
void depthwise_rows(window const& w, tap_run const& rows, tap_run const& columns,
                    grouped_weights<T> const& weights, grouped_image<T const> const& from,
                    grouped_image<T> const& to) {
    std::ptrdiff_t const tap = weights.filters;
    int const more = columns.taps % 5 == 1 ? 6 : columns.taps % 5; // than fives
    int const threes = more % 3 == 0 ? more / 3 : 0;
    row_taps<T> const t{weights.filters,
                        rows.taps,
                        (columns.taps - more) / 5,
                        threes,
                        (more - 3 * threes) / 2,
                        rows.by_tap * from.row(),
                        std::ptrdiff_t{rows.tap_step} * w.kernel_w * tap,
                        columns.tap_step * tap,
                        weights.data + (rows.tap * w.kernel_w + columns.tap) * tap,
                        weights.end};
    static constexpr auto tiles = []<size_t... I>(std::index_sequence<I...>) {
        return std::array{&row_pixels<int(I) + least_in_row, T>...};
    }(std::make_index_sequence<size_t(pixels_at_once - least_in_row + 1)>{});
    std::ptrdiff_t const filters = weights.filters, vectors = filters / simd<T>::width;
    std::ptrdiff_t const blocks = filter_blocks<T>(filters, rows.taps, columns.taps);
    int const parts = (columns.results + pixels_at_once - 1) / pixels_at_once;
    for (int part = 0, pixel = 0; part < parts; ++part) {
        int const end = columns.results * (part + 1) / parts;
        std::ptrdiff_t const place = columns.source + pixel;
        std::uint64_t inside = 0;
        for (int i = 0; i < end - pixel + columns.taps - 1; ++i) {
            inside |= std::uint64_t{size_t(place + i) < size_t(from.width)} << i;
        }
        for (std::ptrdiff_t block = 1, first = 0; block <= blocks; ++block) {
            std::ptrdiff_t const last =
                block < blocks ? vectors * block / blocks * simd<T>::width : filters;
            for (int line = 0; line < rows.results; ++line) {
                tiles[size_t(end - pixel - least_in_row)](
                    t, from.at(rows.source + line * rows.by_result, place), inside,
                    to.at(rows.result + line * rows.result_step, columns.result + pixel), first,
                    last - first);
            }
            first = last;
        }
        pixel = end;
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
