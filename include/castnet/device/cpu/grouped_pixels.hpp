// Micro-kernel of convolutions in narrow groups: sums of some pixels that meet the same taps, in
// vectors along the filters.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/tile.hpp>
#include <castnet/device/cpu/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

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

// Operands and results of some pixels that meet the same taps.
template <class T>
struct met_taps {
    std::ptrdiff_t filters;
    int rows, columns;                    // of taps
    std::ptrdiff_t next_row, next_column; // in the source
    std::ptrdiff_t weight_row, weight_column;
    T const* weight;
    tile_end<T> end;
    bool fetches; // the row after these taps, which the next line of results reads
};

// Pixels that are computed at once, and vectors of filters: of few pixels several, so that their
// sums need not wait for each other.
inline constexpr int pixels_at_once = 8;
constexpr int vectors_at_once(int pixels) {
    return pixels > 4 ? 1 : pixels > 2 ? 2 : 4;
}

// The first `count` numbers of a vector of each of some pixels, which begin `to_step` apart.
template <int Pixels, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
store_part(vec<T> (&sum)[size_t(Pixels)][1], T* to, std::ptrdiff_t to_step, std::ptrdiff_t count) {
    T part[size_t(Pixels)][size_t(simd<T>::width)];
    CASTNET_UNROLL
    for (int k = 0; k < Pixels; ++k) {
        *reinterpret_cast<vec<T>*>(part[k]) = sum[k][0];
    }
    for (int k = 0; k < Pixels; ++k) {
        std::copy_n(part[k], count, to + k * to_step);
    }
}
// Whole vectors.
template <int Pixels, int Vectors, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
store_whole(vec<T> (&sum)[size_t(Pixels)][size_t(Vectors)], T* to, std::ptrdiff_t to_step) {
    CASTNET_UNROLL
    for (int k = 0; k < Pixels; ++k) {
        CASTNET_UNROLL
        for (int v = 0; v < Vectors; ++v) {
            *reinterpret_cast<vec<T>*>(to + k * to_step + v * simd<T>::width) = sum[k][v];
        }
    }
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
    bool const fetches = t.fetches;
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
        if (fetches && first * std::ptrdiff_t{sizeof(T)} % 64 == 0) { // once for each line
            CASTNET_UNROLL
            for (int k = 0; k < Pixels; ++k) {
                __builtin_prefetch(row + k * from_step);
            }
        }
        finish_sums<Pixels, Vectors, T>(sum, end, first);
        if constexpr (Vectors == 1) {
            if (count < width) {
                store_part<Pixels, T>(sum, to, to_step, count);
                return;
            }
        }
        store_whole<Pixels, Vectors, T>(sum, to, to_step);
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
    std::ptrdiff_t height, width, filters;

    std::ptrdiff_t row() const { return width * filters; }
    // Whether caches hold so little of it that lines are fetched before they are read: tiles go
    // down the image, so processors do not read ahead.
    bool is_fetched() const {
        return height * row() * std::ptrdiff_t{sizeof(T)} >= grouped_fetched_ahead;
    }
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

} // namespace castnet::cpu::inline CASTNET_TARGET
