// Attention by tiles of queries and keys in shared memory: what its kernels have in common.
#pragma once

#include <castnet/core/philox.hpp>
#include <castnet/core/select.hpp>
#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/cuda/tuning.hpp>
#include <castnet/device/cuda/warp.hpp>
#include <castnet/graph/attention_form.hpp>
#include <castnet/plan/evaluate.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace castnet::cuda {

// A stride of 1, which makes neighbours of what lies that far apart.
struct adjoining {
    CASTNET_HD constexpr operator int() const { return 1; }
};

// Calls store(i, j, sum over d of a(i, d) * b(d, j)) for each element of a product of matrices in
// shared memory. A thread computes 4 x 4 of them.
template <class Block, class T, class AStep, class BRow, class Store>
CASTNET_HD void multiply_tiles(Block const& block, int rows, int columns, int depth, T const* a,
                               int a_row, AStep a_step, T const* b, BRow b_row, int b_step,
                               Store const& store) {
    constexpr int side = 4, at_once = 4;
    int const down = (rows + side - 1) / side, across = (columns + side - 1) / side;
    for (auto tile = int(block.thread()); tile < down * across; tile += int(block.threads())) {
        int const top = tile / across, left = tile % across;
        T const *row[side], *column[side];
        T sum[side][side] = {};
        CASTNET_UNROLL
        for (int k = 0; k < side; ++k) { // the last tile repeats reads at the edge
            row[k] = a + (top + k * down < rows ? top + k * down : rows - 1) * a_row;
            column[k] =
                b + (left + k * across < columns ? left + k * across : columns - 1) * b_step;
        }
        auto const add = [&](int d) {
            CASTNET_UNROLL
            for (int i = 0; i < side; ++i) {
                T const x = row[i][d * a_step];
                CASTNET_UNROLL
                for (int j = 0; j < side; ++j) {
                    sum[i][j] += x * column[j][d * b_row];
                }
            }
        };
        int d = 0;
        CASTNET_NO_UNROLL
        for (; d + at_once <= depth; d += at_once) {
            CASTNET_UNROLL
            for (int k = 0; k < at_once; ++k) {
                add(d + k);
            }
        }
        for (; d < depth; ++d) {
            add(d);
        }
        CASTNET_UNROLL
        for (int i = 0; i < side; ++i) {
            CASTNET_UNROLL
            for (int j = 0; j < side; ++j) {
                if (top + i * down < rows && left + j * across < columns) {
                    store(top + i * down, left + j * across, sum[i][j]);
                }
            }
        }
    }
}

// The numbers that all kernels of attention need.
template <class T>
struct attention_problem {
    static constexpr unsigned block_threads = attention_threads;
    static constexpr unsigned resident_blocks = sizeof(T) > 4 ? 2 : 4; // a double is two registers

    attention_form form;
    int queries, keys, features, values; // features of a head
    int tile_side = 64;                  // queries and keys of a tile
    std::ptrdiff_t samples;
    T scale, keep;
    philox_key key;
    step_values const* now;
    std::uint32_t first_stream; // of the random numbers of this repetition of a block
    stored<T> q, k, v, lengths;

    // Elements between rows of a tile in shared memory: neighbours in different banks.
    CASTNET_HD int feature_pitch() const { return features | 1; }
    CASTNET_HD int value_pitch() const { return values | 1; }
    CASTNET_HD int score_pitch() const { return tile_side | 1; }

    // A multiple of the sizes of a tile of queries, one of values, one of scores, and some numbers
    // for each row.
    CASTNET_HD constexpr std::ptrdiff_t elements(int of_features, int of_values, int of_scores,
                                                 int numbers) const {
        return std::ptrdiff_t{tile_side} *
               (of_features * (features | 1) + of_values * (values | 1) +
                of_scores * (tile_side | 1) + numbers);
    }

    CASTNET_HD int keys_of(std::ptrdiff_t sample) const {
        return lengths ? keys_before(lengths.get(sample), keys) : keys;
    }
    // Where the keys end that a tile of queries sees.
    CASTNET_HD int end_of_keys(int top, int visible) const {
        return form.causal && top + tile_side < visible ? top + tile_side : visible;
    }
    CASTNET_HD bool sees(int query, int key_number, int visible) const {
        return query < queries && key_number < visible && (!form.causal || key_number <= query);
    }
    // Whether so many queries from this one on see as many keys.
    CASTNET_HD bool see_all(int query, int query_count, int key_number, int key_count,
                            int visible) const {
        int const last_key = key_number + key_count - 1;
        return sees(query, last_key, visible) && query + query_count <= queries;
    }

    // Factor of a weight by dropout.
    CASTNET_HD T dropout(std::ptrdiff_t sample, int head, int query, int key_number) const {
        if (form.stream < 0) {
            return T(1);
        }
        std::ptrdiff_t const row = std::ptrdiff_t{head} * queries + query;
        auto const element = static_cast<std::uint32_t>(row * keys + key_number);
        struct {
            philox_key key;
            std::uint32_t step, first_sample, first_stream;
        } const random{key, now->step, now->first_sample, first_stream};
        std::uint32_t const word = ir::random_at_points::block(
            random, static_cast<std::uint32_t>(form.stream), sample, element / 4)[element % 4];
        return uniform<T>(word) < keep ? T(1) / keep : T(0);
    }
};

// One head of one sample.
template <class T, class Block>
struct attention_head {
    attention_problem<T> const& p;
    Block const& block;
    std::ptrdiff_t sample;
    int number;

    // A head's columns, of as many rows as a tile has, into shared memory: 0 after the last query,
    // and for keys that no query sees, whose memory may never have been written.
    CASTNET_HD void load_queries(stored<T> const& from, int columns, int first, T* to,
                                 int pitch) const {
        load(from, p.queries, p.queries, columns, first, to, pitch);
    }
    CASTNET_HD void load_keys(stored<T> const& from, int visible, int columns, int first, T* to,
                              int pitch) const {
        load(from, p.keys, visible, columns, first, to, pitch);
    }
    // Calls f(row, column, element) of a head's columns in a tile.
    template <class F>
    CASTNET_HD void for_each(int rows, int columns, int first, F const& f) const {
        for_each_place(columns, [&](int row, int column) {
            if (first + row < rows) {
                f(row, column, place(rows, columns, first + row) + column);
            }
        });
    }
    CASTNET_HD std::ptrdiff_t place(int rows, int columns, int row) const {
        return ((sample * rows + row) * p.form.heads + number) * columns;
    }
    CASTNET_HD std::ptrdiff_t row_of_sums() const {
        return (sample * p.form.heads + number) * p.queries;
    }

    // The row of a tile that this thread works on, with some neighbouring lanes of its warp.
    struct row_lane {
        int row, lane, lanes;
        bool is_row; // the tile has it
    };
    CASTNET_HD row_lane row_of_thread() const {
        int const each = int(block.threads()) / p.tile_side, lanes = each < 32 ? each : 32;
        int const thread = int(block.thread()), row = thread / lanes;
        return {row, thread % lanes, lanes, row < p.tile_side};
    }

    // Products of each query of a tile with each key of one.
    CASTNET_HD void scores(T const* q, T const* k, T* to) const {
        int const pitch = p.feature_pitch(), across = p.score_pitch();
        multiply_tiles(block, p.tile_side, p.tile_side, p.features, q, pitch, adjoining{}, k,
                       adjoining{}, pitch,
                       [&](int i, int j, T sum) { to[i * across + j] = sum * p.scale; });
    }
    CASTNET_HD T dropout(int query, int key) const { return p.dropout(sample, number, query, key); }

private:
    // Calls f(row, column) for this thread's share of a tile: a warp has some of its rows.
    template <class F>
    CASTNET_HD void for_each_place(int columns, F const& f) const {
        int const thread = int(block.thread()), warps = int(block.threads()) / 32;
        for (int row = thread / 32; row < p.tile_side; row += warps) {
            for (int column = thread % 32; column < columns; column += 32) {
                f(row, column);
            }
        }
    }
    CASTNET_HD void load(stored<T> const& from, int rows, int end, int columns, int first, T* to,
                         int pitch) const {
        for_each_place(columns, [&](int row, int column) {
            to[row * pitch + column] =
                first + row < end ? from.get(place(rows, columns, first + row) + column) : T(0);
        });
    }
};

// Calls f(head, first row) for every tile of so many rows, in blocks.
template <class T, class Block, class F>
CASTNET_HD void for_each_tile(attention_problem<T> const& p, Block const& block, int rows,
                              F const& f) {
    int const tiles = (rows + p.tile_side - 1) / p.tile_side;
    int const count = int(p.samples) * p.form.heads * tiles;
    for (int i = int(block.index()); i < count; i += int(block.blocks())) {
        block.sync(); // others may still read the tile before
        int const head = i / tiles;
        f(attention_head<T, Block>{p, block, head / p.form.heads, head % p.form.heads},
          i % tiles * p.tile_side);
    }
}

// Chooses the tiles of a body, and returns the shared memory of a block: tiles are the largest for
// which it has some on every GPU, or for bodies with tiles of one size (`side`), what these need
// (`bytes`).
template <class Body>
CASTNET_HD constexpr std::size_t fit_tiles(Body& body, std::size_t element_bytes) {
    if constexpr (requires { Body::side; }) {
        body.tile_side = Body::side;
        return Body::bytes;
    } else {
        constexpr int least = 8; // of rows that a short sequence does not have
        int const rows = body.queries > body.keys ? body.queries : body.keys;
        auto const bytes = [&] { return std::size_t(body.shared_elements()) * element_bytes; };
        while ((bytes() > std::size_t(one_block_bytes) && body.tile_side > 1) ||
               (body.tile_side > least && body.tile_side / 2 >= rows)) {
            body.tile_side /= 2;
        }
        return bytes();
    }
}

CASTNET_CALLS_UNCHECKED
template <class Context, class Body>
CASTNET_HD void launch_tiles(Context const& c, Body body, int rows) {
    using T = typename Context::value_type;
    std::size_t const bytes = fit_tiles(body, sizeof(T));
    std::ptrdiff_t const tiles =
        body.samples * body.form.heads * ((rows + body.tile_side - 1) / body.tile_side);
    c.launch({static_cast<unsigned>(tiles), attention_threads, bytes}, body);
}

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD attention_problem<typename Context::value_type>
attention_problem_of(kernel_launch const& s, tables const& t, Context const& c,
                     int without_lengths) {
    using T = typename Context::value_type;
    array_ref const* const in = t.arrays + s.first_array;
    attention_form const form = attention_form::unpacked(s.attribute);
    attention_problem<T> p{};
    p.form = form;
    p.queries = in[0].size.pixels;
    p.keys = in[1].size.pixels;
    p.features = in[0].size.channels / form.heads;
    p.values = in[2].size.channels / form.heads;
    p.samples = c.samples;
    p.scale = T(1) / std::sqrt(static_cast<T>(p.features));
    p.keep = static_cast<T>(s.factor);
    p.key = c.key;
    p.now = c.now;
    p.first_stream = static_cast<std::uint32_t>(c.repetition * s.random_streams);
    p.q = stored_at(c, in[0]);
    p.k = stored_at(c, in[1]);
    p.v = stored_at(c, in[2]);
    if (s.arrays > without_lengths) {
        p.lengths = stored_at(c, in[without_lengths]);
    }
    return p;
}

} // namespace castnet::cuda
