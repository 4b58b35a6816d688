// Gradients of attention by tiles. They are two kernels, since a block adds up either those of some
// queries or those of some keys.
#pragma once

#include <castnet/device/cuda/attention_gradient_on_tensor_cores.hpp>
#include <castnet/device/cuda/attention_tiles.hpp>

#include <cmath>
#include <cstddef>

namespace castnet::cuda {

// Arguments of both kernels of the gradient.
template <class T>
struct attention_gradient_problem : attention_problem<T> {
    stored<T> y, dy;
    T const* log_sum_exp;

    // The sum of each query's weights times their gradients, and its log_sum_exp, of a tile.
    template <class Head>
    CASTNET_HD void load_sums(Head const& head, int top, T* mean, T* sums) const {
        auto const mine = head.row_of_thread();
        int const query = top + mine.row;
        bool const is_query = mine.is_row && query < this->queries;
        std::ptrdiff_t const place = head.place(this->queries, this->values, query);
        T sum = 0;
        for (int n = mine.lane; n < this->values && is_query; n += mine.lanes) {
            sum += y.get(place + n) * dy.get(place + n);
        }
        sum = sum_of_lanes(head.block, sum, mine.lanes);
        if (mine.is_row && mine.lane == 0) {
            mean[mine.row] = sum;
            sums[mine.row] = is_query ? log_sum_exp[head.row_of_sums() + query] : T(0);
        }
    }

    // Products of the gradients of a tile of queries with a tile of values.
    template <class Head>
    CASTNET_HD void weight_gradients(Head const& head, T const* tile_dy, T const* tile_v,
                                     T* to) const {
        int const pitch = this->value_pitch(), across = this->score_pitch();
        multiply_tiles(head.block, this->tile_side, this->tile_side, this->values, tile_dy, pitch,
                       adjoining{}, tile_v, adjoining{}, pitch,
                       [&](int i, int j, T sum) { to[i * across + j] = sum; });
    }

    // Scores become weights, and the gradients by weights those by scores.
    template <class Head>
    CASTNET_HD void turn_back(Head const& head, int top, int left, int visible, T* score,
                              T* gradient, T const* mean, T const* sums) const {
        auto const mine = head.row_of_thread();
        int const i = mine.row, end = mine.is_row ? this->tile_side : 0;
        for (int j = mine.lane; j < end; j += mine.lanes) {
            T &weight = score[i * this->score_pitch() + j],
              &slope = gradient[i * this->score_pitch() + j];
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
        head.load_queries(this->q, this->features, top, tile_q, pitch);
        head.load_queries(this->dy, this->values, top, tile_dy, value_pitch);
        this->load_sums(head, top, mean, sums);
        for (auto i = int(block.thread()); i < side * pitch; i += int(block.threads())) {
            sum[i] = 0;
        }
        int const end = this->end_of_keys(top, visible);
        for (int left = 0; left < end; left += side) {
            block.sync();
            head.load_keys(this->k, visible, this->features, left, tile_k, pitch);
            head.load_keys(this->v, visible, this->values, left, tile_v, value_pitch);
            block.sync();
            head.scores(tile_q, tile_k, score);
            this->weight_gradients(head, tile_dy, tile_v, gradient);
            block.sync();
            this->turn_back(head, top, left, visible, score, gradient, mean, sums);
            block.sync();
            multiply_tiles(block, side, this->features, side, gradient, across, adjoining{}, tile_k,
                           pitch, 1, [&](int i, int j, T x) { sum[i * pitch + j] += x; });
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
        head.load_keys(this->k, visible, this->features, left, tile_k, pitch);
        head.load_keys(this->v, visible, this->values, left, tile_v, value_pitch);
        for (auto i = int(block.thread()); i < side * pitch; i += int(block.threads())) {
            sum_k[i] = 0;
        }
        for (auto i = int(block.thread()); i < side * value_pitch; i += int(block.threads())) {
            sum_v[i] = 0;
        }
        int const begin = this->form.causal ? left : 0;
        for (int top = begin; left < visible && top < this->queries; top += side) {
            block.sync();
            head.load_queries(this->q, this->features, top, tile_q, pitch);
            head.load_queries(this->dy, this->values, top, tile_dy, value_pitch);
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

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void attention_gradient(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const *const in = t.arrays + s.first_array, *const out = t.arrays + s.output;
    auto const p = attention_problem_of(s, t, c, 6);
    stored<T> const y = stored_at(c, in[3]), dy = stored_at(c, in[5]), dq = stored_at(c, out[0]),
                    dk = stored_at(c, out[1]), dv = stored_at(c, out[2]);
    T const* const log_sum_exp = c.at(in[4]);
    if (uses_tensor_cores(c, p)) {
        tensor_core_attention_gradient<T> const g{{p}, y, dy, log_sum_exp};
        launch_tiles(c, tensor_core_query_gradient_body<T>{g, dq}, p.queries);
        launch_tiles(c, tensor_core_key_gradient_body<T>{g, dk, dv}, p.keys);
    } else {
        attention_gradient_problem<T> const g{p, y, dy, log_sum_exp};
        launch_tiles(c, attention_query_gradient_body<T>{g, dq}, p.queries);
        launch_tiles(c, attention_key_gradient_body<T>{g, dk, dv}, p.keys);
    }
}

template <class Context>
struct kernel_for<Context, op::attention_gradient>
    : function_kernel<Context, &attention_gradient<Context>> {};

} // namespace castnet::cuda
