// Products of small matrices of constant size: sums stay in registers, and only the loop over the
// samples remains.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/tile.hpp>
#include <castnet/device/cpu/tuning.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace castnet::cpu::inline CASTNET_TARGET {

// Lanes of a row's vectors. Those of short rows are narrower, as most wide loads of these would
// cross from one line of the cache to the next.
template <int Columns, class T>
inline constexpr int small_width =
    std::min(simd<T>::width, std::max(16 / static_cast<int>(sizeof(T)),
                                      static_cast<int>(std::bit_ceil(unsigned(Columns)))));

// Vectors of a row that are computed at once.
template <int Columns, class T>
inline constexpr int small_vectors =
    std::min((Columns + simd<T>::width - 1) / simd<T>::width, tile_vectors);

// Rows that are computed at once: as many as leave registers for the operands.
template <int Columns, class T>
inline constexpr int small_rows = std::min(8, tile_rows* tile_vectors / small_vectors<Columns, T>);

// Vectors of a row that is computed alone: then the rows of b are read one after the other.
template <int Columns, class T>
inline constexpr int single_row_vectors =
    std::min((Columns + simd<T>::width - 1) / simd<T>::width, vector_registers / 2);

// Parts of the sums of a row, of so many terms.
template <int Rows, int Vectors>
constexpr int parts_of_row(std::ptrdiff_t depth = 4) {
    std::ptrdiff_t const most = std::min<std::ptrdiff_t>(depth, vector_registers / 2 / Vectors);
    return Rows > 1 || most < 2 ? 1 : most < 4 ? 2 : 4;
}

// Rows x Columns, of so many vectors, of c = a * b, element (i, k) of a at i * row + k * step; rows
// of b lie b_row apart, those of c c_row. A single row is summed up in `Parts`, up to four, so that
// no sum waits for the last; the first part begins with the bias, if there is one, of
// whole vectors.
template <int Rows, int Columns, int Vectors, int Parts, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
small_block(std::ptrdiff_t depth, T const* a, std::ptrdiff_t row, std::ptrdiff_t step, T const* b,
            std::ptrdiff_t b_row, T* c, std::ptrdiff_t c_row, T const* bias = nullptr) {
    constexpr int width = small_width<Columns, T>, vectors = Vectors, parts = Parts;
    using lanes = typename vector_of<T, width>::type;
    lanes sum[size_t(parts)][size_t(Rows)][size_t(vectors)] = {};
    if (Rows == 1 && bias) {
        CASTNET_UNROLL
        for (int j = 0; j < vectors; ++j) {
            sum[0][0][j] = *reinterpret_cast<lanes const*>(bias + j * width);
        }
    }
    auto const add = [&](int part, std::ptrdiff_t k) __attribute__((always_inline)) {
        lanes right[size_t(vectors)];
        CASTNET_UNROLL
        for (int j = 0; j < vectors; ++j) {
            right[j] = *reinterpret_cast<lanes const*>(b + k * b_row + j * width);
        }
        CASTNET_UNROLL
        for (int i = 0; i < Rows; ++i) {
            T const left = a[i * row + k * step];
            CASTNET_UNROLL
            for (int j = 0; j < vectors; ++j) {
                sum[part][i][j] = plus_product<Rows, vectors>(sum[part][i][j], left, right[j]);
            }
        }
    };
    std::ptrdiff_t k = 0;
    for (; k + parts <= depth; k += parts) {
        CASTNET_UNROLL
        for (int part = 0; part < parts; ++part) {
            add(part, k + part);
        }
    }
    if constexpr (parts > 1) {
        for (std::ptrdiff_t const rest = depth % parts; k % parts < rest; ++k) {
            add(0, k);
        }
        CASTNET_UNROLL
        for (int j = 0; j < vectors; ++j) {
            if constexpr (parts == 4) {
                sum[2][0][j] += sum[3][0][j];
                sum[0][0][j] = (sum[0][0][j] + sum[1][0][j]) + sum[2][0][j];
            } else {
                sum[0][0][j] += sum[1][0][j];
            }
        }
    }
    CASTNET_UNROLL
    for (int i = 0; i < Rows; ++i) {
        CASTNET_UNROLL
        for (int j = 0; j < vectors; ++j) {
            constexpr int rest = Columns - (vectors - 1) * width;
            T* const to = c + i * c_row + j * width;
            if (rest >= width || j + 1 < vectors) {
                *reinterpret_cast<lanes*>(to) = sum[0][i][j];
            } else {
                lanes const part = sum[0][i][j];
                std::memcpy(to, &part, std::size_t(rest) * sizeof(T));
            }
        }
    }
}

// c (rows x Columns) = a (rows x depth) * b (depth x Columns), as above.
template <int Columns, class T>
[[gnu::always_inline]] inline void
small_product(std::ptrdiff_t rows, std::ptrdiff_t depth, T const* a, std::ptrdiff_t row,
              std::ptrdiff_t step, T const* b, std::ptrdiff_t b_row, T* c, std::ptrdiff_t c_row) {
    constexpr int at_once = small_rows<Columns, T>;
    constexpr int columns = small_vectors<Columns, T> * simd<T>::width;
    std::ptrdiff_t i = 0;
    auto const block =
        [&]<int Rows>(std::integral_constant<int, Rows>) __attribute__((always_inline)) {
            constexpr int vectors = small_vectors<Columns, T>;
            small_block<Rows, std::min(Columns, columns), vectors, parts_of_row<Rows, vectors>()>(
                depth, a + i * row, row, step, b, b_row, c + i * c_row, c_row);
        };
    for (; i + at_once <= rows; i += at_once) {
        block(std::integral_constant<int, at_once>{});
    }
    for (; i + 3 <= rows; i += 3) {
        block(std::integral_constant<int, 3>{});
    }
    for (; i < rows; ++i) {
        block(std::integral_constant<int, 1>{});
    }
    if constexpr (Columns > columns) {
        small_product<Columns - columns>(rows, depth, a, row, step, b + columns, b_row, c + columns,
                                         c_row);
    }
}

// Whether an L1 cache does not hold the matrix, and registers hold all sums of a row.
template <int Depth, int Columns, class T>
constexpr bool reads_alternately() {
    constexpr int most = single_row_vectors<Columns, T> * simd<T>::width;
    return std::ptrdiff_t{sizeof(T)} * Depth * Columns > l1_cache && Columns == most;
}

// A single row of the same, plus the bias, if there is one, for such a matrix. The rows of b are
// read in four parts, from the last to the first if `backwards`: who alternates finds in the cache
// what was read last. Parts are added in pairs, so that both ways give the same bits.
template <int Depth, int Columns, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
alternating_row_product(T const* a, T const* b, T* c, T const* bias, bool backwards) {
    constexpr int width = simd<T>::width, vectors = Columns / width;
    vec<T> part[size_t(vectors)] = {}, total[size_t(vectors)] = {};
    for (int i = 0; i < 4; ++i) {
        int const from = backwards ? 3 - i : i;
        vec<T> sum[size_t(vectors)] = {};
        for (int k = Depth * from / 4; k < Depth * (from + 1) / 4; ++k) {
            CASTNET_UNROLL
            for (int j = 0; j < vectors; ++j) {
                vec<T> const row = *reinterpret_cast<vec<T> const*>(b + k * Columns + j * width);
                sum[j] = multiply_add(a[k], row, sum[j]);
            }
        }
        CASTNET_UNROLL
        for (int j = 0; j < vectors; ++j) {
            if (i % 2 == 0) {
                part[j] = sum[j];
            } else {
                total[j] += part[j] + sum[j];
            }
        }
    }
    CASTNET_UNROLL
    for (int j = 0; j < vectors; ++j) {
        *reinterpret_cast<vec<T>*>(c + j * width) =
            bias ? total[j] + *reinterpret_cast<vec<T> const*>(bias + j * width) : total[j];
    }
}

// A single row of the same, plus the bias, if there is one.
template <int Depth, int Columns, class T>
[[gnu::always_inline]] inline void small_row_product(T const* a, T const* b, std::ptrdiff_t b_row,
                                                     T* c, T const* bias) {
    constexpr int vectors = single_row_vectors<Columns, T>, columns = vectors * simd<T>::width;
    small_block<1, std::min(Columns, columns), vectors, parts_of_row<1, vectors>(Depth)>(
        Depth, a, 0, 1, b, b_row, c, 0, bias);
    if constexpr (Columns > columns) {
        small_row_product<Depth, Columns - columns>(a, b + columns, b_row, c + columns,
                                                    bias ? bias + columns : nullptr);
    }
}

// The sum of the lanes of a vector, half and half.
template <int Lanes, class T>
[[gnu::always_inline]] inline T sum_of_lanes(T const* x) {
    if constexpr (Lanes == 1) {
        return *x;
    } else {
        typedef T half
            __attribute__((vector_size(Lanes / 2 * sizeof(T)), aligned(alignof(T)), may_alias));
        half const sum =
            *reinterpret_cast<half const*>(x) + *reinterpret_cast<half const*>(x + Lanes / 2);
        return sum_of_lanes<Lanes / 2>(reinterpret_cast<T const*>(&sum));
    }
}

// c[i] = the sum of a[i][k] * b[k], plus the bias, if there is one: a single column, for which rows
// of a are the vectors.
template <int Depth, class T>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
small_column(std::ptrdiff_t rows, T const* a, T const* b, T* c, T const* bias) {
    constexpr int width =
        std::min(simd<T>::width, static_cast<int>(std::bit_floor(unsigned(Depth))));
    constexpr int vectors = Depth / width;
    typedef T lanes __attribute__((vector_size(width * sizeof(T)), aligned(alignof(T)), may_alias));
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
        lanes sum = {};
        if (bias) {
            sum[0] = *bias;
        }
        CASTNET_UNROLL
        for (int j = 0; j < vectors; ++j) {
            lanes const left = *reinterpret_cast<lanes const*>(a + i * Depth + j * width),
                        right = *reinterpret_cast<lanes const*>(b + j * width);
            sum = multiply_add(left, right, sum);
        }
        T total = sum_of_lanes<width>(reinterpret_cast<T const*>(&sum));
        for (int k = vectors * width; k < Depth; ++k) {
            total += a[i * Depth + k] * b[k];
        }
        c[i] = total;
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
