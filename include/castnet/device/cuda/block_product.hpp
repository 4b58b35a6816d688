// Products of small matrices of constant size by one thread block: a thread keeps the sums of a
// tile of the result in registers, over a part of the depth. Parts are added in their order.
#pragma once

#include <castnet/device/cuda/lanes.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/expr/expr.hpp>

namespace castnet::cuda {

// c (rows x columns) = a * b, element (i, k) of a at i * a_row + k * a_step, (k, j) of b at
// k * b_row + j * b_step, and (i, j) of c at i * c_row + j.
struct product_shape {
    int rows, columns, depth;
    int a_row, a_step, b_row, b_step, c_row;
};

// That of a launch, with the rows of all pixels of so many samples, if it is of samples.
CASTNET_HD constexpr product_shape block_product_of(kernel_launch const& s, array_ref const* arrays,
                                                    int samples) {
    array_ref const& first = arrays[s.first_array];
    int const rows = (ir::is_of_samples(s, arrays) ? samples : 1) * first.size.pixels,
              in = first.size.channels, out = arrays[s.output].size.channels;
    switch (s.kind) {
    case op::matmul_data: // dy times the transposed weights
        return {rows, out, in, in, 1, 1, in, out};
    case op::matmul_weight: { // the transposed x times dy
        int const units = arrays[s.first_array + 1].size.channels;
        return {in, units, rows, 1, in, units, 1, units};
    }
    default:
        return {rows, out, in, in, 1, out, 1, out};
    }
}

// A tile holds every `down`-th row and every `across`-th column, so that neighbouring threads read
// neighbouring numbers; or neighbouring columns (block_product_body).
struct product_tiling {
    int rows = 1, columns = 1;
    int down = 1, across = 1; // tiles
    int parts = 1;            // of the depth

    CASTNET_HD constexpr int tiles() const { return down * across; }
    CASTNET_HD constexpr int scratch() const {
        return parts > 1 ? tiles() * parts * rows * columns : 0;
    }
};

// The largest tiles that occupy all threads; for small products several threads share the depth of
// a tile, and then tiles get smaller.
CASTNET_HD constexpr product_tiling tiling_of(product_shape const& p) {
    auto const with = [&](int rows, int columns, int parts) {
        return product_tiling{rows, columns, (p.rows + rows - 1) / rows,
                              (p.columns + columns - 1) / columns, parts};
    };
    auto const up_to_four = [](int n) { return n >= 4 ? 4 : n >= 2 ? 2 : 1; };
    product_tiling t = with(up_to_four(p.rows), up_to_four(p.columns), 1);
    constexpr int threads = int(block_threads);
    while (t.tiles() * t.parts * 2 <= threads && p.depth >= 16 * t.parts) {
        t.parts *= 2;
    }
    while (t.tiles() * t.parts * 2 <= threads && t.rows > 1) {
        t = with(t.rows / 2, t.columns, t.parts);
    }
    return t;
}

// Epilogue of a product's sums: none, or one of plan/epilogue.hpp with a bias of
// type B.
struct plain_sums {
    template <class T>
    CASTNET_HD T operator()(T sum, int) const {
        return sum;
    }
};
template <class B, epilogue E>
struct finished_sums {
    B const* bias;

    template <class T>
    CASTNET_HD T operator()(T sum, int column) const {
        T const x = sum + T(bias[column]);
        if constexpr (E.activates) {
            return function<E.activation>::value(x);
        } else {
            return x;
        }
    }
};

// Sums are of type T; factors and results may be others, such as bfloat16.
template <product_shape P, class T, class A = T, class B = T, class C = T, class End = plain_sums>
struct block_product_body {
    static constexpr product_tiling t = tiling_of(P);
    static constexpr int rows = t.rows, columns = t.columns, down = t.down, across = t.across,
                         parts = t.parts, tiles = down * across;
    // Where the depth adjoins in both, neighbouring threads begin at different depths: at the same
    // one, what they read would often be in the same bank of shared memory.
    static constexpr bool staggers = P.a_step == 1 && P.b_row == 1;
    // Where columns adjoin in b, a tile has neighbouring ones, which are read at once.
    static constexpr bool adjoins =
        columns > 1 && P.b_step == 1 && P.columns % columns == 0 && P.b_row % columns == 0;

    A const* a;
    B const* b;
    C* out;
    int rows_used = P.rows; // of the result
    End end{};

    // Needs scratch() elements of shared memory.
    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        T* const partial = block.template shared<T>();
        for_each_in_block(block, tiles * parts, [&](std::ptrdiff_t i) {
            int const tile = int(i) % tiles, part = int(i) / tiles;
            int const row = tile / across, column = tile % across;
            T sum[rows][columns] = {};
            constexpr bool even = P.depth % parts == 0;
            int const steps = even ? P.depth / parts : (P.depth - part + parts - 1) / parts,
                      first = staggers && steps > 0 ? tile % steps : 0;
            int k = part + first * parts;
            for (int step = 0; step < steps; ++step) {
                T right[columns];
                read(b + k * P.b_row, column, right);
                for (int r = 0; r < rows; ++r) {
                    T const left = T(a[within(row + r * down, P.rows) * P.a_row + k * P.a_step]);
                    for (int c = 0; c < columns; ++c) {
                        sum[r][c] += left * right[c];
                    }
                }
                k += parts;
                if constexpr (staggers) {
                    k = k < P.depth ? k : part;
                }
            }
            for (int r = 0; r < rows; ++r) {
                for (int c = 0; c < columns; ++c) {
                    int const at = column_of(column, c);
                    if constexpr (parts > 1) {
                        partial[((r * columns + c) * parts + part) * tiles + tile] = sum[r][c];
                    } else if (row + r * down < rows_used && at < P.columns) {
                        out[(row + r * down) * P.c_row + at] = C(end(sum[r][c], at));
                    }
                }
            }
        });
        if constexpr (parts > 1) {
            block.sync();
            for_each_in_block(block, rows_used * P.columns, [&](std::ptrdiff_t i) {
                int const row = int(i) / P.columns, column = int(i) % P.columns;
                int const in_tile = adjoins ? column % columns : column / across,
                          tile_column = adjoins ? column / columns : column % across;
                int const element = row / down * columns + in_tile,
                          tile = row % down * across + tile_column;
                T sum = 0;
                for (int part = 0; part < parts; ++part) {
                    sum += partial[(element * parts + part) * tiles + tile];
                }
                out[row * P.c_row + column] = C(end(sum, column));
            });
        }
    }

private:
    // The columns of a tile.
    CASTNET_HD static int column_of(int tile_column, int i) {
        return adjoins ? tile_column * columns + i : tile_column + i * across;
    }
    CASTNET_HD static void read(B const* row, int tile_column, T (&right)[columns]) {
        if constexpr (adjoins) {
            load_lanes(row + tile_column * columns, right);
        } else {
            for (int i = 0; i < columns; ++i) {
                right[i] = T(row[within(column_of(tile_column, i), P.columns) * P.b_step]);
            }
        }
    }

    // The last tile repeats reads at the edge, and does not write them.
    CASTNET_HD static int within(int i, int count) { return i < count ? i : count - 1; }
};

} // namespace castnet::cuda
