// Products of bfloat16 by AMX, the unit for tiles of matrices in Intel's server processors from
// Sapphire Rapids on: one instruction multiplies 16 rows of A, 16 pairs deep, by 16 columns of B.
//
// It adds up the first numbers of the 16 pairs and, apart from them, the second ones, each product
// with one rounding, and then both sums to the result. Zeros follow a depth that is no multiple of
// 16, so a row's result depends neither on its place nor on how many rows there are.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/tile.hpp>
#include <castnet/cpu/transpose.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace castnet::cpu::inline CASTNET_TARGET {

// Rows of a tile, pairs of its depth, and numbers.
inline constexpr std::ptrdiff_t amx_rows = 16, amx_steps = 16, amx_tile = amx_rows * amx_steps,
                                amx_depth = 2 * amx_steps;
// The most rows and pairs of the depth at once: part of an L2 cache.
inline constexpr std::ptrdiff_t amx_most_rows = std::ptrdiff_t{most_tiles} * tile_rows,
                                amx_most_steps = 256;

// Whether products of these factors are compiled for AMX, as -march=native does where it exists.
template <class F>
inline constexpr bool knows_amx = CASTNET_HAS_AMX && numbers_in<F> > 1;

// Whether AMX computes them: where the system lets the process use it, as Linux does since 5.16.
// All products of a process agree on it, since the results differ in their last bits.
template <class F>
bool uses_amx() {
#if CASTNET_HAS_AMX
    if constexpr (knows_amx<F>) {
        static bool const is_permitted = [] {
            constexpr long arch_prctl = 158, request_permission = 0x1023, tile_data = 18;
            long result = arch_prctl;
            asm volatile("syscall"
                         : "+a"(result)
                         : "D"(request_permission), "S"(tile_data)
                         : "rcx", "r11", "memory");
            return result == 0;
        }();
        return is_permitted;
    }
#endif
    return false;
}

// Some rows of a product, which AMX computes.
template <class F>
class amx_block;

#if CASTNET_HAS_AMX

// The thread's tiles while this exists: sums in 0 to 3, rows of A in 4, columns of B in 5 to 7.
// Other code may use AMX, too, so they are set up for each product.
class amx_tiles {
public:
    amx_tiles() {
        struct {
            std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
            std::uint16_t row_bytes[16] = {};
            std::uint8_t rows[16] = {};
        } shapes;
        for (int i = 0; i < 8; ++i) {
            CASTNET_OPAQUE(i); // too few for vectorization
            shapes.row_bytes[i] = 64;
            shapes.rows[i] = amx_rows;
        }
        asm volatile("ldtilecfg %0" : : "m"(shapes));
    }
    amx_tiles(amx_tiles const&) = delete;
    amx_tiles& operator=(amx_tiles const&) = delete;
    ~amx_tiles() { asm volatile("tilerelease" ::: "memory"); }
};

// Rows of a left factor as tiles read them: of each 16 rows tile after tile along the depth.
class amx_left {
public:
    explicit amx_left(std::ptrdiff_t steps)
        : steps_{steps}, next_rows_{(steps + amx_steps - 1) / amx_steps * amx_tile} {}

    bfloat16_pair const* rows_from(std::ptrdiff_t first) const {
        return data_ + first / amx_rows * next_rows_;
    }

    // Rounds rows that lie `next` apart, each `depth` numbers.
    CASTNET_WIDE_VECTORS void round_rows_of(float const* from, std::ptrdiff_t next,
                                            std::ptrdiff_t rows, std::ptrdiff_t depth) {
        constexpr std::ptrdiff_t width = simd<float>::width;
        for (std::ptrdiff_t i = 0; i < rows; ++i, from += next) {
            bfloat16_pair* to = place(i, 0);
            std::ptrdiff_t k = 0;
            for (; k + amx_depth <= depth; k += amx_depth, to += amx_tile) {
                *reinterpret_cast<vec<bfloat16_pair>*>(to) =
                    rounded_neighbours(*reinterpret_cast<vec<float> const*>(from + k),
                                       *reinterpret_cast<vec<float> const*>(from + k + width));
            }
            if (k < depth) {
                std::fill_n(to, amx_steps, bfloat16_pair{});
                round_neighbours(from + k, depth - k, to);
            }
        }
    }
    // The same where columns are contiguous and lie `next` apart.
    void round_columns(float const* from, std::ptrdiff_t next, std::ptrdiff_t rows,
                       std::ptrdiff_t depth) {
        bfloat16_pair turned[size_t(amx_tile)] = {};
        for (std::ptrdiff_t k = 0; k < depth; k += amx_depth, from += amx_depth * next) {
            for (std::ptrdiff_t i = 0; i < rows; i += amx_rows) {
                std::ptrdiff_t const count = std::min(amx_rows, rows - i);
                float const* pair = from + i;
                for (std::ptrdiff_t s = 0; s < amx_steps; ++s, pair += 2 * next) {
                    std::ptrdiff_t const left = depth - k - 2 * s;
                    round_rows(left > 0 ? pair : nullptr, left > 1 ? pair + next : nullptr, count,
                               turned + s * amx_rows);
                }
                transpose_block(turned, amx_rows, place(i, k / 2), amx_steps);
            }
        }
    }
    // Gathers the steps at these offsets of rows that begin anywhere.
    void gather(bfloat16_pair const* const* row, std::ptrdiff_t rows,
                std::ptrdiff_t const* offset) {
        for (std::ptrdiff_t k = 0; k < steps_; k += amx_steps, offset += amx_steps) {
            std::ptrdiff_t const count = std::min(amx_steps, steps_ - k);
            std::ptrdiff_t neighbours = 1;
            while (neighbours < count && offset[neighbours] == offset[0] + neighbours) {
                ++neighbours;
            }
            for (std::ptrdiff_t i = 0; i < rows; i += amx_rows) {
                gather_tile(row + i, std::min(amx_rows, rows - i), offset, count,
                            neighbours == count, place(i, k));
            }
        }
    }

private:
    // Of each thread, since some C libraries give threads small stacks.
    static bfloat16_pair* memory() {
        alignas(64) static thread_local bfloat16_pair data[size_t(amx_most_rows * amx_most_steps)];
        return data;
    }
    bfloat16_pair* place(std::ptrdiff_t row, std::ptrdiff_t step) {
        return data_ + row / amx_rows * next_rows_ + step / amx_steps * amx_tile +
               row % amx_rows * amx_steps;
    }

    static void gather_tile(bfloat16_pair const* const* row, std::ptrdiff_t rows,
                            std::ptrdiff_t const* offset, std::ptrdiff_t count, bool neighbours,
                            bfloat16_pair* to) {
        using vector = vec<bfloat16_pair>;
        if (neighbours && count == amx_steps) {
            for (std::ptrdiff_t i = 0; i < rows; ++i) {
                *reinterpret_cast<vector*>(to + i * amx_steps) =
                    *reinterpret_cast<vector const*>(row[i] + offset[0]);
            }
            return;
        }
        std::ptrdiff_t beside = 1; // rows
        while (beside < rows && row[beside] == row[0] + beside) {
            ++beside;
        }
        if (beside == amx_rows) {
            bfloat16_pair turned[size_t(amx_tile)] = {};
            for (std::ptrdiff_t s = 0; s < count; ++s) {
                *reinterpret_cast<vector*>(turned + s * amx_rows) =
                    *reinterpret_cast<vector const*>(row[0] + offset[s]);
            }
            transpose_block(turned, amx_rows, to, amx_steps);
            return;
        }
        for (std::ptrdiff_t i = 0; i < rows; ++i, to += amx_steps) {
            for (std::ptrdiff_t s = 0; s < amx_steps; ++s) {
                to[s] = s < count ? row[i][offset[s]] : bfloat16_pair{};
            }
        }
    }

    std::ptrdiff_t steps_, next_rows_;
    bfloat16_pair* data_ = memory();
};

// Adds to the sums in tiles the product of a tile of A and some tiles of B side by side.
template <int Vectors>
[[gnu::always_inline]] inline void add_tiles(bfloat16_pair const* a, bfloat16_pair const* b,
                                             std::ptrdiff_t b_row_bytes) {
    constexpr std::ptrdiff_t a_row_bytes = 64;
    asm volatile("tileloadd (%0,%1,1), %%tmm4" : : "r"(a), "r"(a_row_bytes) : "memory");
    asm volatile("tileloadd (%0,%1,1), %%tmm5\n\t"
                 "tdpbf16ps %%tmm5, %%tmm4, %%tmm0"
                 :
                 : "r"(b), "r"(b_row_bytes)
                 : "memory");
    if constexpr (Vectors > 1) {
        asm volatile("tileloadd 64(%0,%1,1), %%tmm6\n\t"
                     "tdpbf16ps %%tmm6, %%tmm4, %%tmm1"
                     :
                     : "r"(b), "r"(b_row_bytes)
                     : "memory");
    }
    if constexpr (Vectors > 2) {
        asm volatile("tileloadd 128(%0,%1,1), %%tmm7\n\t"
                     "tdpbf16ps %%tmm7, %%tmm4, %%tmm2"
                     :
                     : "r"(b), "r"(b_row_bytes)
                     : "memory");
    }
    if constexpr (Vectors > 3) {
        asm volatile("tileloadd 192(%0,%1,1), %%tmm5\n\t"
                     "tdpbf16ps %%tmm5, %%tmm4, %%tmm3"
                     :
                     : "r"(b), "r"(b_row_bytes)
                     : "memory");
    }
}

// The sums of a tile's rows, `tile_columns` apart.
template <int Vectors>
[[gnu::always_inline]] inline void store_tiles(float* to) {
    constexpr std::ptrdiff_t row_bytes =
        tile_columns<bfloat16_pair> * std::ptrdiff_t{sizeof(float)};
    asm volatile("tilestored %%tmm0, (%0,%1,1)" : : "r"(to), "r"(row_bytes) : "memory");
    if constexpr (Vectors > 1) {
        asm volatile("tilestored %%tmm1, 64(%0,%1,1)" : : "r"(to), "r"(row_bytes) : "memory");
    }
    if constexpr (Vectors > 2) {
        asm volatile("tilestored %%tmm2, 128(%0,%1,1)" : : "r"(to), "r"(row_bytes) : "memory");
    }
    if constexpr (Vectors > 3) {
        asm volatile("tilestored %%tmm3, 192(%0,%1,1)" : : "r"(to), "r"(row_bytes) : "memory");
    }
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
        asm volatile("tilezero %tmm0\n\ttilezero %tmm1\n\ttilezero %tmm2\n\ttilezero %tmm3");
        bfloat16_pair const *a = left.rows_from(r), *b = d.b;
        for (std::ptrdiff_t k = 0; k < tiles; ++k, a += amx_tile, b += amx_steps * d.b_stride) {
            add_tiles<Vectors>(a, b, b_row_bytes);
            for (std::ptrdiff_t i = 0; i < fetched; ++i, next += line) {
                __builtin_prefetch(next, 0, 2);
            }
        }
        if (rest > 0) {
            add_tiles<Vectors>(a, last, width * std::ptrdiff_t{sizeof(bfloat16_pair)});
        }
        store_tiles<Vectors>(sums);
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
    template <class Matrix>
    void take(Matrix const& a, std::ptrdiff_t rows, std::ptrdiff_t depth, float* c,
              std::ptrdiff_t c_row) {
        if (a.column == 1) {
            left_.round_rows_of(a.data, a.row, rows, depth);
        } else {
            left_.round_columns(a.data, a.column, rows, depth);
        }
        for (rows_ = 0; rows_ < rows; ++rows_, c += c_row) {
            c_[rows_] = c;
        }
    }
    // The rows of tiles that begin anywhere, with such offsets of the steps.
    void take(tile_pointers<bfloat16_pair> const* tiles, int count, std::ptrdiff_t const* offset) {
        bfloat16_pair const* a[size_t(amx_most_rows)];
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
    float* c_[size_t(amx_most_rows)];
    std::ptrdiff_t rows_ = 0;
    amx_tiles tiles_{};
};

#endif

} // namespace castnet::cpu::inline CASTNET_TARGET
