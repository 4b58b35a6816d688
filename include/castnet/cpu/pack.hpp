// Products of matrices, and panels of their right factors: a few columns, packed row after row.
#pragma once

#include <castnet/core/finite.hpp>
#include <castnet/core/float_bits.hpp>
#include <castnet/cpu/tile.hpp>
#include <castnet/cpu/transpose.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

namespace castnet::cpu::inline CASTNET_TARGET {

constexpr std::ptrdiff_t panel_count(std::ptrdiff_t columns, std::ptrdiff_t width) {
    return (columns + width - 1) / width;
}

// A matrix operand: element (i, j) lies at i * row + j * column.
template <class T>
struct matrix {
    T const* data;
    std::ptrdiff_t row, column;
};

// Packs a panel of b, `depth` numbers deep: `columns` columns, at most a tile's. Where b lies
// turned, its columns are contiguous.
template <class F>
void pack_panel(std::ptrdiff_t depth, std::ptrdiff_t columns, matrix<sum_type<F>> const& b, F* to) {
    constexpr std::ptrdiff_t width = tile_columns<F>;
    std::ptrdiff_t const steps = steps_of<F>(depth);
    if (b.column != 1) {
        if (columns < width) {
            std::fill_n(to, steps * width, F{});
        }
        if constexpr (numbers_in<F> == 1) {
            transpose(columns, depth, b.data, b.column, to, width);
        } else {
            constexpr std::ptrdiff_t most = 64;
            F rounded[size_t(width * most)];
            for (std::ptrdiff_t k = 0; k < steps; k += most) {
                std::ptrdiff_t const first = k * numbers_in<F>,
                                     count = std::min(most * numbers_in<F>, depth - first);
                for (std::ptrdiff_t j = 0; j < columns; ++j) {
                    round_neighbours(b.data + j * b.column + first, count, rounded + j * most);
                }
                transpose(columns, steps_of<F>(count), rounded, most, to + k * width, width);
            }
        }
        return;
    }
    auto const* from = b.data;
    for (std::ptrdiff_t k = 0; k < depth; k += numbers_in<F>, to += width) {
        if constexpr (numbers_in<F> > 1) {
            constexpr std::ptrdiff_t ahead = 16, line = 64 / std::ptrdiff_t{sizeof(sum_type<F>)};
            for (std::ptrdiff_t j = 0; j < columns; j += line) {
                __builtin_prefetch(from + ahead * b.row + j);
                __builtin_prefetch(from + (ahead + 1) * b.row + j);
            }
            round_rows(from, k + 1 < depth ? from + b.row : nullptr, columns, to);
            std::fill_n(to + columns, width - columns, F{});
        } else if (columns == width) {
            std::memcpy(to, from, width * sizeof(F)); // a few vectors, no call
        } else {
            std::copy_n(from, columns, to);
            std::fill_n(to + columns, width - columns, F(0));
        }
        from += numbers_in<F> * b.row;
    }
}

// Of at least one number. (Other types than float and double come here after a mistake that has
// been reported, which should remain the only one.)
template <class T>
bool all_zero(T const*, std::ptrdiff_t) {
    return false;
}
template <elementary::Binary T>
bool all_zero(T const* x, std::ptrdiff_t count) {
    using bits = typename elementary::float_bits<T>::type;
    if (x[0] != T(0)) {
        return false;
    }
    bits found = 0;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        found |= std::bit_cast<bits>(x[i]) << 1; // without the sign
    }
    return found == 0;
}
template <class T>
bool all_finite(T const*, std::ptrdiff_t) {
    return false;
}
template <elementary::Binary T>
bool all_finite(T const* x, std::ptrdiff_t count) {
    using bits = elementary::float_bits<T>;
    using number = typename bits::type;
    number largest = 0;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        largest = std::max(largest, std::bit_cast<number>(x[i]) & ~bits::sign);
    }
    return largest < castnet::detail::exponent_bits<T>;
}

// Packs the rows of a panel of b that are not zeros: returns how many there are, and writes the
// offsets of their steps in a, where steps lie a_column apart. Where a is finite, the products of
// the others are zeros, which change no sum. (One that has underflowed to -0 may become 0.)
template <class T>
std::ptrdiff_t pack_nonzero(std::ptrdiff_t depth, std::ptrdiff_t columns, matrix<T> const& b, T* to,
                            std::ptrdiff_t a_column, std::ptrdiff_t* offset) {
    std::ptrdiff_t count = 0;
    for (std::ptrdiff_t k = 0; k < depth; ++k) {
        if (T const* const from = b.data + k * b.row; !all_zero(from, columns)) {
            pack_panel<T>(1, columns, {from, b.row, 1}, to + count * tile_columns<T>);
            offset[count++] = k * a_column;
        }
    }
    return count;
}

// Bytes of the part of a panel that many rows meet. Wide vectors come from the L2 cache as fast as
// the L1 cache, and with fewer parts sums are loaded and stored less often.
inline constexpr std::ptrdiff_t panel_part = vector_bytes >= 64 ? 65536 : 24576;

// For such a part.
template <class F>
struct panel_scratch {
    static constexpr std::ptrdiff_t size =
        std::max(std::ptrdiff_t{8192}, panel_part / std::ptrdiff_t{sizeof(F)});
    alignas(64) F data[size_t(size)];
};

// The most steps of the depth at once, and the most rows of a result that is computed turned.
inline constexpr std::ptrdiff_t most_steps_at_once = 512, most_turned_rows = 96;

// c (m x n, rows c_row apart) = a (m x k) times b (k x n), ended so. Where it turns, c lies turned
// (as n x m), and m is at most most_turned_rows.
template <class T>
struct product {
    std::ptrdiff_t m, n, k;
    matrix<T> a, b;
    T* c;
    std::ptrdiff_t c_row;
    tile_end<T> end = {};
    bool turns = false;
    // Rows of zeros of b are left out where they are packed; a lies turned.
    bool has_zeros = false;
};

} // namespace castnet::cpu::inline CASTNET_TARGET
