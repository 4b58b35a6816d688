// Rows of a product that AMX computes (cpu/amx.hpp): its micro-kernel, behind the panels of
// cpu/tile.hpp.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/amx_left.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

// At most amx_left::most_rows rows.
template <class F>
class amx_block;

#if CASTNET_HAS_AMX

// Sums in the tiles 0 to 3, one for each vector of columns; rows of A in 4, columns of B in 5 to 7.
template <int... Vector>
[[gnu::always_inline]] inline void zero_tiles(std::integer_sequence<int, Vector...>) {
    (zero_tile<Vector>(), ...);
}
// Adds to them the product of a tile of A and tiles of B side by side.
template <int... Vector>
[[gnu::always_inline]] inline void add_tiles(bfloat16_pair const* a, bfloat16_pair const* b,
                                             std::ptrdiff_t b_row_bytes,
                                             std::integer_sequence<int, Vector...>) {
    constexpr int width = simd<bfloat16_pair>::width, first = 5, count = 3; // of B
    load_tile<4>(a, amx_steps * std::ptrdiff_t{sizeof(bfloat16_pair)});
    ((load_tile<first + Vector % count>(b + Vector * width, b_row_bytes),
      add_product<Vector, 4, first + Vector % count>()),
     ...);
}
// To rows that lie `tile_columns` apart.
template <int... Vector>
[[gnu::always_inline]] inline void store_tiles(float* to, std::integer_sequence<int, Vector...>) {
    constexpr std::ptrdiff_t row_bytes =
        tile_columns<bfloat16_pair> * std::ptrdiff_t{sizeof(float)};
    (store_tile<Vector>(to + Vector * simd<float>::width, row_bytes), ...);
}

// The end of some rows of sums, to rows of c; `Whole` where vectors end with the columns.
template <int Vectors, bool Whole>
CASTNET_WIDE_VECTORS void finish_rows(float const* sums, std::ptrdiff_t rows, float* const* c,
                                      std::ptrdiff_t first, int columns,
                                      tile_end<float> const& end) {
    constexpr std::ptrdiff_t width = simd<float>::width, most = 4;
    constexpr int half = Vectors > 2 ? 2 * width : Vectors * width / 2;
    for (std::ptrdiff_t r = 0; r < rows; r += most, sums += most * tile_columns<bfloat16_pair>) {
        float part[Whole ? 1 : size_t(most)][size_t(Vectors * width)] = {};
        float* to[size_t(most)];
        vec<float> sum[size_t(most)][size_t(Vectors)];
        CASTNET_UNROLL
        for (std::ptrdiff_t i = 0; i < most; ++i) {
            to[i] = c[std::min(r + i, rows - 1)] + first;
            if constexpr (!Whole) {
                if (end.accumulate) {
                    copy_few<half>(to[i], columns, part[i]);
                }
                to[i] = part[i];
            }
            CASTNET_UNROLL
            for (std::ptrdiff_t j = 0; j < Vectors; ++j) {
                sum[i][j] = *reinterpret_cast<vec<float> const*>(
                    sums + i * tile_columns<bfloat16_pair> + j * width);
                if (end.accumulate) {
                    sum[i][j] += *reinterpret_cast<vec<float> const*>(to[i] + j * width);
                }
            }
        }
        finish_sums<size_t(most), size_t(Vectors), float>(sum, end, first);
        CASTNET_UNROLL
        for (std::ptrdiff_t i = 0; i < most; ++i) {
            if (r + i < rows) {
                CASTNET_UNROLL
                for (std::ptrdiff_t j = 0; j < Vectors; ++j) {
                    *reinterpret_cast<vec<float>*>(to[i] + j * width) = sum[i][j];
                }
                if constexpr (!Whole) {
                    copy_few<half>(part[i], columns, c[r + i] + first);
                }
            }
        }
    }
}

template <int Vectors>
[[gnu::noinline]] void amx_columns(amx_left const& left, std::ptrdiff_t rows, float* const* c,
                                   std::ptrdiff_t first, int columns,
                                   tile_depth<bfloat16_pair> const& d, tile_end<float> const& end) {
    constexpr int width = Vectors * simd<float>::width;
    constexpr std::make_integer_sequence<int, Vectors> vectors{};
    constexpr std::ptrdiff_t line = 64 / std::ptrdiff_t{sizeof(bfloat16_pair)},
                             lines = amx_steps * tile_columns<bfloat16_pair> / line;
    std::ptrdiff_t const tiles = d.steps / amx_steps, rest = d.steps % amx_steps,
                         b_row_bytes = d.b_stride * std::ptrdiff_t{sizeof(bfloat16_pair)},
                         groups = (rows + amx_rows - 1) / amx_rows,
                         fetched = d.next ? (lines + groups - 1) / groups : 0; // for each tile
    bfloat16_pair const* next = d.next;
    alignas(64) bfloat16_pair last[size_t(amx_steps * width)];
    if (rest > 0) {
        std::fill_n(last, amx_steps * width, bfloat16_pair{});
        for (std::ptrdiff_t s = 0; s < rest; ++s) {
            std::copy_n(d.b + (tiles * amx_steps + s) * d.b_stride, width, last + s * width);
        }
    }
    alignas(64) float sums[size_t(amx_rows * tile_columns<bfloat16_pair>)];
    for (std::ptrdiff_t r = 0; r < rows; r += amx_rows) {
        zero_tiles(vectors);
        bfloat16_pair const *a = left.rows_from(r), *b = d.b;
        for (std::ptrdiff_t k = 0; k < tiles; ++k, a += amx_tile, b += amx_steps * d.b_stride) {
            add_tiles(a, b, b_row_bytes, vectors);
            for (std::ptrdiff_t i = 0; i < fetched; ++i, next += line) {
                __builtin_prefetch(next, 0, 2);
            }
        }
        if (rest > 0) {
            add_tiles(a, last, width * std::ptrdiff_t{sizeof(bfloat16_pair)}, vectors);
        }
        store_tiles(sums, vectors);
        auto* const finish =
            columns == width ? &finish_rows<Vectors, true> : &finish_rows<Vectors, false>;
        finish(sums, std::min(amx_rows, rows - r), c + r, first, columns, end);
    }
}

template <>
class amx_block<bfloat16_pair> {
public:
    // So deep a part of the product.
    explicit amx_block(std::ptrdiff_t steps) : left_{steps} {}

    // Rows of a matrix, which are rounded, and of the result.
    void take(matrix<float> const& a, std::ptrdiff_t rows, std::ptrdiff_t depth, float* c,
              std::ptrdiff_t c_row) {
        left_.round(a, rows, depth);
        for (rows_ = 0; rows_ < rows; ++rows_, c += c_row) {
            c_[rows_] = c;
        }
    }
    // The rows of tiles that begin anywhere, with such offsets of the steps.
    void take(tile_pointers<bfloat16_pair> const* tiles, int count, std::ptrdiff_t const* offset) {
        bfloat16_pair const* a[size_t(amx_left::most_rows)];
        for (int i = 0; i < count; ++i) {
            std::copy_n(tiles[i].a, tiles[i].rows, a + rows_);
            std::copy_n(tiles[i].c, tiles[i].rows, c_ + rows_);
            rows_ += tiles[i].rows;
        }
        left_.gather(a, rows_, offset);
    }

    // Times columns of B, as tile_panel (cpu/tile.hpp) multiplies them.
    void multiply(std::ptrdiff_t first, int columns, tile_depth<bfloat16_pair> const& d,
                  tile_end<float> const& end) const {
        constexpr int width = simd<float>::width;
        auto* const run = columns > 3 * width   ? &amx_columns<4>
                          : columns > 2 * width ? &amx_columns<3>
                          : columns > width     ? &amx_columns<2>
                                                : &amx_columns<1>;
        run(left_, rows_, c_, first, columns, d, end);
    }

private:
    amx_left left_;
    float* c_[size_t(amx_left::most_rows)];
    std::ptrdiff_t rows_ = 0;
    amx_tiles tiles_{};
};

#endif

} // namespace castnet::cpu::inline CASTNET_TARGET
