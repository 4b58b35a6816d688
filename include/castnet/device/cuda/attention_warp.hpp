// Tiles of attention on tensor cores, and what a warp does with them: it has 16 rows, and keeps
// their scores and sums in registers.
#pragma once

#include <castnet/device/cuda/attention_tiles.hpp>
#include <castnet/device/cuda/lanes.hpp>
#include <castnet/device/cuda/product_precision.hpp>
#include <castnet/device/cuda/tensor_cores.hpp>
#include <castnet/device/cuda/warp.hpp>

#include <cmath>
#include <cstddef>

namespace castnet::cuda {

// The most features of a head whose sums fit the registers.
inline constexpr int tensor_core_features = 64;

// Of a weight, which is rounded to bfloat16: with the error of the GPU's own function.
CASTNET_HD inline float exponential(float x) {
#ifdef __CUDA_ARCH__
    return __expf(x);
#else
    return std::exp(x);
#endif
}

// Arguments of these kernels. Numbers are T or bfloat16 in global memory, float and bfloat16 here.
template <class T>
struct tensor_core_attention : attention_problem<T> {
    static constexpr unsigned resident_blocks = 3;
    static constexpr int side = attention_threads / 2; // rows of a tile: 16 for each warp
    static constexpr int column_blocks = tensor_core_features / 16;
    using tile = matrix_tile<tensor_core_features>;
    static constexpr int tile_elements = side * tile::pitch;

    // The tile of this number in shared memory, and what follows so many tiles.
    template <class Block>
    CASTNET_HD static tile shared_tile(Block const& block, int number) {
        return {block.template shared<bfloat16>() + number * tile_elements};
    }
    template <class Block>
    CASTNET_HD static float* after_tiles(Block const& block, int tiles) {
        return reinterpret_cast<float*>(shared_tile(block, tiles).first);
    }
    static constexpr std::size_t shared_bytes(int tiles, int numbers = 0) {
        return std::size_t(tiles * tile_elements) * sizeof(bfloat16) +
               std::size_t(numbers) * sizeof(float);
    }
};

// A warp of a block that computes a tile of one head.
template <class T, class Block>
struct attention_warp {
    using problem = tensor_core_attention<T>;
    using tile = typename problem::tile;
    static constexpr int blocks = problem::column_blocks;
    // Fragments of 16 rows and all columns.
    struct left_factors {
        matrix_fragment of[blocks];
    };
    struct sums {
        sum_fragment of[2 * blocks];
    };

    problem const& p;
    attention_head<T, Block> const& head;
    Block const& block = head.block;
    int lane = int(block.thread() % 32), first_row = int(block.thread() / 32) * 16;

    // A head's columns of the rows from `first` on, which end at `end`, as a tile with zeros
    // around.
    CASTNET_HD void load(stored<T> const& from, int rows, int end, int columns, int first,
                         tile const& to) const {
        stored<T> const arrays[] = {from};
        for_each_eighth(arrays, rows, end, columns, first,
                        [&](int row, int column, eight_bfloat16 const(&eight)[1]) {
                            *reinterpret_cast<eight_bfloat16*>(to.at(row, column)) = eight[0];
                        });
    }

    // The same of gradients of the result, and the sums over columns of these times the result.
    CASTNET_HD void load_gradients(stored<T> const& dy, stored<T> const& y, int first,
                                   tile const& to, float* sum) const {
        stored<T> const arrays[] = {dy, y};
        for_each_eighth(arrays, p.queries, p.queries, p.values, first,
                        [&](int row, int column, eight_bfloat16 const(&eight)[2]) {
                            *reinterpret_cast<eight_bfloat16*>(to.at(row, column)) = eight[0];
                            float gradient[8], result[8], product = 0;
                            unpack(eight[0], gradient);
                            unpack(eight[1], result);
                            CASTNET_UNROLL
                            for (int k = 0; k < 8; ++k) {
                                product += gradient[k] * result[k];
                            }
                            product = sum_of_lanes(block, product, 8);
                            if (column == 0) {
                                sum[row] = product;
                            }
                        });
    }

    // The warp's rows of a tile. (Products are of all columns that it has, whatever a head has of
    // them: a branch would let each of them wait for what it reads.)
    CASTNET_HD left_factors rows_of(tile const& of) const {
        left_factors all{};
        CASTNET_UNROLL
        for (int k = 0; k < blocks; ++k) {
            all.of[k] = of.left(block, first_row, 16 * k);
        }
        return all;
    }

    // Products of the warp's rows with 16 rows of a tile.
    CASTNET_HD void add_products(left_factors const& rows, tile const& of, int row,
                                 sum_fragment& first, sum_fragment& second) const {
        CASTNET_UNROLL
        for (int k = 0; k < blocks; ++k) {
            multiply_add(block, first, second, rows.of[k],
                         of.right_of_transposed(block, row, 16 * k));
        }
    }
    // Adds the products of 16 columns of weights with as many rows of a tile.
    CASTNET_HD void add_weighted(matrix_fragment const& weights, tile const& of, int row,
                                 sums& to) const {
        CASTNET_UNROLL
        for (int k = 0; k < blocks; ++k) {
            multiply_add(block, to.of[2 * k], to.of[2 * k + 1], weights,
                         of.right(block, row, 16 * k));
        }
    }

    // Calls f(row of the tile, column, index in the fragment) for each number of 16 x 8.
    template <class F>
    CASTNET_HD void for_each(int column, F const& f) const {
        CASTNET_UNROLL
        for (int i = 0; i < 4; ++i) {
            f(first_row + sum_fragment::row(lane, i), column + sum_fragment::column(lane, i), i);
        }
    }

    // Stores the columns that a head has of sums, each times the factor of its row in the fragment.
    CASTNET_HD void store(sums const& from, float const (&factor)[2], int rows, int columns,
                          int first, stored<T> const& to) const {
        CASTNET_UNROLL
        for (int k = 0; k < 2 * blocks; ++k) {
            int const column = 8 * k + sum_fragment::column(lane, 0);
            CASTNET_UNROLL
            for (int r = 0; r < 2; ++r) { // a lane has two neighbours of two rows
                int const row = first + first_row + sum_fragment::row(lane, 2 * r);
                if (row >= rows || column >= columns) {
                    continue;
                }
                float const* const of = from.of[k].of + 2 * r;
                T const two[] = {T(of[0] * factor[r]), T(of[1] * factor[r])};
                std::ptrdiff_t const place = head.place(rows, columns, row) + column;
                if (columns % 2 == 0) { // aligned
                    to.store(two, static_cast<std::uint32_t>(place));
                } else {
                    to.set(place, two[0]);
                    if (column + 1 < columns) {
                        to.set(place + 1, two[1]);
                    }
                }
            }
        }
    }

private:
    // Calls f(row, column, eight numbers of each array) for the rows of a tile and the columns that
    // products read. Eight lanes read a row.
    template <int Arrays, class F>
    CASTNET_HD void for_each_eighth(stored<T> const (&from)[Arrays], int rows, int end, int columns,
                                    int first, F const& f) const {
        constexpr int step = int(attention_threads) / 8, at_once = problem::side / step;
        int const column = lane % 8 * 8, top = int(block.thread()) / 8;
        bool whole = columns % 8 == 0; // and aligned
        for (stored<T> const& each : from) {
            whole = whole && each.is_bf16();
        }
        eight_bfloat16 eight[at_once][Arrays];
        CASTNET_UNROLL
        for (int n = 0; n < at_once; ++n) {
            int const row = first + top + n * step;
            std::ptrdiff_t const place = head.place(rows, columns, row) + column;
            CASTNET_UNROLL
            for (int k = 0; k < Arrays; ++k) {
                if (!whole) {
                    eight[n][k] = read(from[k], row < end ? columns - column : 0, place);
                } else if (row < end && column < columns) {
                    eight[n][k] =
                        *reinterpret_cast<eight_bfloat16 const*>(from[k].as_bf16() + place);
                } else {
                    eight[n][k] = {};
                }
            }
        }
        CASTNET_UNROLL
        for (int n = 0; n < at_once; ++n) {
            f(top + n * step, column, eight[n]);
        }
    }

    // As many as there are of the eight numbers from a place on, and zeros after them.
    CASTNET_HD static eight_bfloat16 read(stored<T> const& from, int count, std::ptrdiff_t place) {
        eight_bfloat16 all{};
        CASTNET_UNROLL
        for (int k = 0; k < 4; ++k) {
            float const one = 2 * k < count ? static_cast<float>(from.get(place + 2 * k)) : 0,
                        next =
                            2 * k + 1 < count ? static_cast<float>(from.get(place + 2 * k + 1)) : 0;
            all.word[k] = two_bfloat16(one, next);
        }
        return all;
    }
};

// Loads the keys and values that a tile of queries sees, a tile at a time, and calls f(first key).
template <class T, class Block, class F>
CASTNET_HD void for_each_tile_of_keys(attention_warp<T, Block> const& warp, int top, int visible,
                                      F const& f) {
    using problem = tensor_core_attention<T>;
    auto const& p = warp.p;
    int const end = p.end_of_keys(top, visible);
    for (int left = 0; left < end; left += problem::side) {
        warp.block.sync(); // others may still read the tiles before
        warp.load(p.k, p.keys, visible, p.features, left, problem::shared_tile(warp.block, 0));
        warp.load(p.v, p.keys, visible, p.values, left, problem::shared_tile(warp.block, 1));
        warp.block.sync();
        f(left);
    }
}

// Calls f(warp, first row) for every tile of so many rows, in blocks.
template <class T, class Block, class F>
CASTNET_HD void for_each_warp(tensor_core_attention<T> const& p, Block const& block, int rows,
                              F const& f) {
    for_each_tile(p, block, rows, [&](attention_head<T, Block> const& head, int top) {
        f(attention_warp<T, Block>{p, head}, top);
    });
}

// Whether products of such an attention read bfloat16.
template <class Context, class T>
CASTNET_HD bool uses_tensor_cores(Context const& c, attention_problem<T> const& p) {
    return c.precision == product_precision::bf16 && p.features <= tensor_core_features &&
           p.values <= tensor_core_features;
}

} // namespace castnet::cuda
