// Attention by tiles of queries and keys in shared memory. The gradients are two kernels, since a
// block adds up either those of some queries or those of some keys.
#pragma once

#include <castnet/core/philox.hpp>
#include <castnet/core/select.hpp>
#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/reducer.hpp>
#include <castnet/graph/attention_form.hpp>
#include <castnet/plan/evaluate.hpp>

#include <cmath>
#include <cstdint>

namespace castnet::cuda {

// Calls store(i, j, sum over d of a(i, d) * b(d, j)) for each element of a product of matrices in
// shared memory. A thread computes 4 x 4 of them.
template <class Block, class T, class Store>
CASTNET_HD void multiply_tiles(Block const& block, int rows, int columns, int depth, T const* a,
                               int a_row, int a_step, T const* b, int b_row, int b_step,
                               Store const& store) {
    constexpr int side = 4;
    int const down = (rows + side - 1) / side, across = (columns + side - 1) / side;
    for (auto tile = int(block.thread()); tile < down * across; tile += int(block.threads())) {
        int const top = tile / across, left = tile % across;
        T const *row[side], *column[side];
        T sum[side][side] = {};
        for (int k = 0; k < side; ++k) { // the last tile repeats reads at the edge
            row[k] = a + (top + k * down < rows ? top + k * down : rows - 1) * a_row;
            column[k] =
                b + (left + k * across < columns ? left + k * across : columns - 1) * b_step;
        }
        for (int d = 0; d < depth; ++d) {
            for (int i = 0; i < side; ++i) {
                T const x = row[i][d * a_step];
                for (int j = 0; j < side; ++j) {
                    sum[i][j] += x * column[j][d * b_row];
                }
            }
        }
        for (int i = 0; i < side; ++i) {
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
    int tile_side = 32;                  // queries and keys of a tile
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
    CASTNET_HD bool sees(int query, int key_number, int visible) const {
        return query < queries && key_number < visible && (!form.causal || key_number <= query);
    }

    // What a weight is multiplied by.
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

    // A head's columns, of as many rows as a tile has, into shared memory; 0 past the last row.
    CASTNET_HD void load(stored<T> const& from, int rows, int columns, int first, T* to,
                         int pitch) const {
        for (auto i = int(block.thread()); i < p.tile_side * columns; i += int(block.threads())) {
            int const row = i / columns, column = i % columns;
            to[row * pitch + column] =
                first + row < rows ? from.get(place(rows, columns, first + row) + column) : T(0);
        }
    }
    // Calls f(row, column, element) of a head's columns in a tile.
    template <class F>
    CASTNET_HD void for_each(int rows, int columns, int first, F const& f) const {
        for (auto i = int(block.thread()); i < p.tile_side * columns; i += int(block.threads())) {
            int const row = i / columns, column = i % columns;
            if (first + row < rows) {
                f(row, column, place(rows, columns, first + row) + column);
            }
        }
    }
    CASTNET_HD std::ptrdiff_t place(int rows, int columns, int row) const {
        return ((sample * rows + row) * p.form.heads + number) * columns;
    }
    CASTNET_HD std::ptrdiff_t row_of_sums() const {
        return (sample * p.form.heads + number) * p.queries;
    }

    // Products of each query of a tile with each key of one.
    CASTNET_HD void scores(T const* q, T const* k, T* to) const {
        int const pitch = p.feature_pitch(), across = p.score_pitch();
        multiply_tiles(block, p.tile_side, p.tile_side, p.features, q, pitch, 1, k, 1, pitch,
                       [&](int i, int j, T sum) { to[i * across + j] = sum * p.scale; });
    }
    CASTNET_HD T dropout(int query, int key) const { return p.dropout(sample, number, query, key); }
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

template <class T>
struct attention_body : attention_problem<T> {
    stored<T> y;
    T* log_sum_exp; // nullptr where nobody wants it

    CASTNET_HD constexpr std::ptrdiff_t shared_elements() const {
        return this->elements(1, 1, 1, 3) + this->tile_side * wider_pitch();
    }

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_tile(*this, block, this->queries,
                      [&](attention_head<T, Block> const& head, int top) { attend(head, top); });
    }

private:
    CASTNET_HD constexpr int wider_pitch() const {
        return (this->features > this->values ? this->features : this->values) | 1;
    }

    template <class Head>
    CASTNET_HD void attend(Head const& head, int top) const {
        auto const& block = head.block;
        int const side = this->tile_side, pitch = this->feature_pitch(),
                  across = this->score_pitch(), value_pitch = this->value_pitch();
        T* const tile_q = block.template shared<T>();
        T* const tile_kv = tile_q + side * pitch; // of keys, then of values
        T* const sum = tile_kv + side * wider_pitch();
        T* const score = sum + side * value_pitch;
        T *const largest = score + side * across, *const total = largest + side,
                 *const earlier = total + side;
        int const visible = this->keys_of(head.sample);
        head.load(this->q, this->queries, this->features, top, tile_q, pitch);
        for (auto i = int(block.thread()); i < side * value_pitch; i += int(block.threads())) {
            sum[i] = 0;
        }
        for (auto i = int(block.thread()); i < side; i += int(block.threads())) {
            largest[i] = minus_infinity<T>;
            total[i] = 0;
        }
        int const end = this->form.causal && top + side < visible ? top + side : visible;
        for (int left = 0; left < end; left += side) {
            block.sync();
            head.load(this->k, this->keys, this->features, left, tile_kv, pitch);
            block.sync();
            head.scores(tile_q, tile_kv, score);
            block.sync();
            head.load(this->v, this->keys, this->values, left, tile_kv, value_pitch);
            for (auto i = int(block.thread()); i < side; i += int(block.threads())) {
                weigh(head, top + i, left, visible, score + i * across, largest[i], total[i],
                      earlier[i]);
            }
            block.sync();
            multiply_tiles(block, side, this->values, side, score, across, 1, tile_kv, value_pitch,
                           1, [&](int i, int j, T x) {
                               T& to = sum[i * value_pitch + j];
                               to = to * earlier[i] + x;
                           });
        }
        block.sync();
        head.for_each(this->queries, this->values, top, [&](int i, int j, std::ptrdiff_t place) {
            // (a NaN stays one)
            y.set(place, total[i] == T(0) ? T(0) : sum[i * value_pitch + j] / total[i]);
        });
        for (auto i = int(block.thread()); log_sum_exp && i < side; i += int(block.threads())) {
            if (top + i < this->queries) {
                log_sum_exp[head.row_of_sums() + top + i] =
                    total[i] == T(0) ? T(0) : largest[i] + std::log(total[i]);
            }
        }
    }

    // The scores of a query become weights, but for a factor. A thread does that for one query.
    template <class Head>
    CASTNET_HD void weigh(Head const& head, int query, int left, int visible, T* score, T& largest,
                          T& total, T& earlier) const {
        T const before = largest;
        for (int j = 0; j < this->tile_side; ++j) {
            if (this->sees(query, left + j, visible) && score[j] > largest) {
                largest = score[j];
            }
        }
        earlier = before == largest ? T(1) : std::exp(before - largest);
        total *= earlier;
        for (int j = 0; j < this->tile_side; ++j) {
            T const weight =
                this->sees(query, left + j, visible) ? std::exp(score[j] - largest) : T(0);
            total += weight;
            score[j] = weight != T(0) ? weight * head.dropout(query, left + j) : weight;
        }
    }
};

// What both kernels of the gradient need.
template <class T>
struct attention_gradient_problem : attention_problem<T> {
    stored<T> y, dy;
    T const* log_sum_exp;

    // The sum of each query's weights times their gradients, and its log_sum_exp, of a tile.
    template <class Head>
    CASTNET_HD void load_sums(Head const& head, int top, T* mean, T* sums) const {
        for (auto i = int(head.block.thread()); i < this->tile_side;
             i += int(head.block.threads())) {
            mean[i] = sums[i] = 0;
            if (top + i < this->queries) {
                std::ptrdiff_t const place = head.place(this->queries, this->values, top + i);
                for (int n = 0; n < this->values; ++n) {
                    mean[i] += y.get(place + n) * dy.get(place + n);
                }
                sums[i] = log_sum_exp[head.row_of_sums() + top + i];
            }
        }
    }

    // Products of the gradients of a tile of queries with a tile of values.
    template <class Head>
    CASTNET_HD void weight_gradients(Head const& head, T const* tile_dy, T const* tile_v,
                                     T* to) const {
        int const pitch = this->value_pitch(), across = this->score_pitch();
        multiply_tiles(head.block, this->tile_side, this->tile_side, this->values, tile_dy, pitch,
                       1, tile_v, 1, pitch, [&](int i, int j, T sum) { to[i * across + j] = sum; });
    }

    // Scores become weights, and the gradients by weights those by scores.
    template <class Head>
    CASTNET_HD void turn_back(Head const& head, int top, int left, int visible, T* score,
                              T* gradient, T const* mean, T const* sums) const {
        int const side = this->tile_side, across = this->score_pitch();
        for (auto n = int(head.block.thread()); n < side * side; n += int(head.block.threads())) {
            int const i = n / side, j = n % side;
            T &weight = score[i * across + j], &slope = gradient[i * across + j];
            if (this->sees(top + i, left + j, visible)) {
                T const factor = head.dropout(top + i, left + j), p = std::exp(weight - sums[i]);
                weight = p * factor;
                slope = p * (slope * factor - mean[i]) * this->scale;
            } else {
                weight = slope = T(0);
            }
        }
    }
};

// The gradients by queries: a block goes through the keys of a tile of queries.
template <class T>
struct attention_query_gradient_body : attention_gradient_problem<T> {
    stored<T> dq;

    CASTNET_HD constexpr std::ptrdiff_t shared_elements() const {
        return this->elements(3, 2, 2, 2);
    }

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_tile(*this, block, this->queries,
                      [&](attention_head<T, Block> const& head, int top) { add_keys(head, top); });
    }

private:
    template <class Head>
    CASTNET_HD void add_keys(Head const& head, int top) const {
        auto const& block = head.block;
        int const side = this->tile_side, pitch = this->feature_pitch(),
                  across = this->score_pitch(), value_pitch = this->value_pitch();
        T* const tile_q = block.template shared<T>();
        T *const tile_k = tile_q + side * pitch, *const sum = tile_k + side * pitch,
                 *const tile_v = sum + side * pitch, *const tile_dy = tile_v + side * value_pitch,
                 *const score = tile_dy + side * value_pitch,
                 *const gradient = score + side * across, *const mean = gradient + side * across,
                 *const sums = mean + side;
        int const visible = this->keys_of(head.sample);
        head.load(this->q, this->queries, this->features, top, tile_q, pitch);
        head.load(this->dy, this->queries, this->values, top, tile_dy, value_pitch);
        this->load_sums(head, top, mean, sums);
        for (auto i = int(block.thread()); i < side * pitch; i += int(block.threads())) {
            sum[i] = 0;
        }
        int const end = this->form.causal && top + side < visible ? top + side : visible;
        for (int left = 0; left < end; left += side) {
            block.sync();
            head.load(this->k, this->keys, this->features, left, tile_k, pitch);
            head.load(this->v, this->keys, this->values, left, tile_v, value_pitch);
            block.sync();
            head.scores(tile_q, tile_k, score);
            this->weight_gradients(head, tile_dy, tile_v, gradient);
            block.sync();
            this->turn_back(head, top, left, visible, score, gradient, mean, sums);
            block.sync();
            multiply_tiles(block, side, this->features, side, gradient, across, 1, tile_k, pitch, 1,
                           [&](int i, int j, T x) { sum[i * pitch + j] += x; });
        }
        block.sync();
        head.for_each(this->queries, this->features, top, [&](int i, int j, std::ptrdiff_t place) {
            dq.set(place, sum[i * pitch + j]);
        });
    }
};

// The gradients by keys and values: a block goes through the queries of a tile of keys.
template <class T>
struct attention_key_gradient_body : attention_gradient_problem<T> {
    stored<T> dk, dv;

    CASTNET_HD constexpr std::ptrdiff_t shared_elements() const {
        return this->elements(3, 3, 2, 2);
    }

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_tile(
            *this, block, this->keys,
            [&](attention_head<T, Block> const& head, int left) { add_queries(head, left); });
    }

private:
    template <class Head>
    CASTNET_HD void add_queries(Head const& head, int left) const {
        auto const& block = head.block;
        int const side = this->tile_side, pitch = this->feature_pitch(),
                  across = this->score_pitch(), value_pitch = this->value_pitch();
        T* const tile_q = block.template shared<T>();
        T *const tile_k = tile_q + side * pitch, *const sum_k = tile_k + side * pitch,
                 *const tile_v = sum_k + side * pitch, *const tile_dy = tile_v + side * value_pitch,
                 *const sum_v = tile_dy + side * value_pitch,
                 *const score = sum_v + side * value_pitch, *const gradient = score + side * across,
                 *const mean = gradient + side * across, *const sums = mean + side;
        int const visible = this->keys_of(head.sample);
        head.load(this->k, this->keys, this->features, left, tile_k, pitch);
        head.load(this->v, this->keys, this->values, left, tile_v, value_pitch);
        for (auto i = int(block.thread()); i < side * pitch; i += int(block.threads())) {
            sum_k[i] = 0;
        }
        for (auto i = int(block.thread()); i < side * value_pitch; i += int(block.threads())) {
            sum_v[i] = 0;
        }
        int const begin = this->form.causal ? left : 0;
        for (int top = begin; left < visible && top < this->queries; top += side) {
            block.sync();
            head.load(this->q, this->queries, this->features, top, tile_q, pitch);
            head.load(this->dy, this->queries, this->values, top, tile_dy, value_pitch);
            this->load_sums(head, top, mean, sums);
            block.sync();
            head.scores(tile_q, tile_k, score);
            this->weight_gradients(head, tile_dy, tile_v, gradient);
            block.sync();
            this->turn_back(head, top, left, visible, score, gradient, mean, sums);
            block.sync();
            multiply_tiles(block, side, this->features, side, gradient, 1, across, tile_q, pitch, 1,
                           [&](int i, int j, T x) { sum_k[i * pitch + j] += x; });
            multiply_tiles(block, side, this->values, side, score, 1, across, tile_dy, value_pitch,
                           1, [&](int i, int j, T x) { sum_v[i * value_pitch + j] += x; });
        }
        block.sync();
        head.for_each(this->keys, this->features, left, [&](int i, int j, std::ptrdiff_t place) {
            dk.set(place, sum_k[i * pitch + j]);
        });
        head.for_each(this->keys, this->values, left, [&](int i, int j, std::ptrdiff_t place) {
            dv.set(place, sum_v[i * value_pitch + j]);
        });
    }
};

// The largest tiles that a block's shared memory holds without opt-in.
template <class Body>
CASTNET_HD constexpr std::size_t fit_tiles(Body& body, std::size_t element_bytes) {
    auto const bytes = [&] { return std::size_t(body.shared_elements()) * element_bytes; };
    while (bytes() > default_shared_bytes && body.tile_side > 1) {
        body.tile_side /= 2;
    }
    return bytes();
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

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void attention(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    launch_tiles(c,
                 attention_body<T>{attention_problem_of(s, t, c, 3),
                                   stored_at(c, t.arrays[s.output]),
                                   s.results > 1 ? c.at(t.arrays[s.output + 1]) : nullptr},
                 t.arrays[s.output].size.pixels);
}

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void attention_gradient(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const *const in = t.arrays + s.first_array, *const out = t.arrays + s.output;
    attention_gradient_problem<T> const p{attention_problem_of(s, t, c, 6), stored_at(c, in[3]),
                                          stored_at(c, in[5]), c.at(in[4])};
    launch_tiles(c, attention_query_gradient_body<T>{p, stored_at(c, out[0])}, p.queries);
    launch_tiles(c, attention_key_gradient_body<T>{p, stored_at(c, out[1]), stored_at(c, out[2])},
                 p.keys);
}

template <class Context>
struct kernel_for<Context, op::attention> : function_kernel<Context, &attention<Context>> {};
template <class Context>
struct kernel_for<Context, op::attention_gradient>
    : function_kernel<Context, &attention_gradient<Context>> {};

} // namespace castnet::cuda
