// Attention by tiles: a block goes through the keys of a tile of queries, and keeps the largest
// score and the sum of the weights so far.
#pragma once

#include <castnet/device/cuda/attention_on_tensor_cores.hpp>
#include <castnet/device/cuda/attention_tiles.hpp>
#include <castnet/device/reducer.hpp>

#include <cmath>
#include <cstddef>

namespace castnet::cuda {

template <class T>
struct attention_body : attention_problem<T> {
    stored<T> y;
    T* log_sum_exp; // nullptr where nobody wants it

    CASTNET_HD constexpr std::ptrdiff_t shared_elements() const {
        return this->elements(1, 1, 1, 2) + this->tile_side * wider_pitch();
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
        T *const earlier = score + side * across, *const total = earlier + side;
        int const visible = this->keys_of(head.sample);
        head.load_queries(this->q, this->features, top, tile_q, pitch);
        for (auto i = int(block.thread()); i < side * value_pitch; i += int(block.threads())) {
            sum[i] = 0;
        }
        auto const mine = head.row_of_thread();
        running_softmax running;
        int const end = this->end_of_keys(top, visible);
        for (int left = 0; left < end; left += side) {
            block.sync();
            head.load_keys(this->k, visible, this->features, left, tile_kv, pitch);
            block.sync();
            head.scores(tile_q, tile_kv, score);
            block.sync();
            head.load_keys(this->v, visible, this->values, left, tile_kv, value_pitch);
            weigh(head, mine, top, left, visible, score, running, earlier);
            block.sync();
            multiply_tiles(block, side, this->values, side, score, across, adjoining{}, tile_kv,
                           value_pitch, 1, [&](int i, int j, T x) {
                               T& to = sum[i * value_pitch + j];
                               to = to * earlier[i] + x;
                           });
        }
        if (mine.is_row && mine.lane == 0) {
            total[mine.row] = running.total;
            if (log_sum_exp && top + mine.row < this->queries) {
                log_sum_exp[head.row_of_sums() + top + mine.row] =
                    running.total == T(0) ? T(0) : running.largest + std::log(running.total);
            }
        }
        block.sync();
        head.for_each(this->queries, this->values, top, [&](int i, int j, std::ptrdiff_t place) {
            // (a NaN stays one)
            y.set(place, total[i] == T(0) ? T(0) : sum[i * value_pitch + j] / total[i]);
        });
    }

    // Running softmax of a row, which all its lanes know.
    struct running_softmax {
        T largest = minus_infinity<T>, total = 0;
    };

    // The scores of a row become weights, but for a factor.
    template <class Head, class Row>
    CASTNET_HD void weigh(Head const& head, Row const& mine, int top, int left, int visible,
                          T* scores, running_softmax& running, T* earlier) const {
        int const query = top + mine.row, end = mine.is_row ? this->tile_side : 0;
        T* const score = scores + mine.row * this->score_pitch();
        T largest = running.largest, sum = 0;
        for (int j = mine.lane; j < end; j += mine.lanes) {
            if (this->sees(query, left + j, visible) && score[j] > largest) {
                largest = score[j];
            }
        }
        largest = largest_of_lanes(head.block, largest, mine.lanes);
        for (int j = mine.lane; j < end; j += mine.lanes) {
            T const weight =
                this->sees(query, left + j, visible) ? std::exp(score[j] - largest) : T(0);
            sum += weight;
            score[j] = weight != T(0) ? weight * head.dropout(query, left + j) : weight;
        }
        T const factor = running.largest == largest ? T(1) : std::exp(running.largest - largest);
        running = {largest, running.total * factor + sum_of_lanes(head.block, sum, mine.lanes)};
        if (mine.is_row && mine.lane == 0) {
            earlier[mine.row] = factor;
        }
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void attention(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    auto const p = attention_problem_of(s, t, c, 3);
    stored<T> const y = stored_at(c, t.arrays[s.output]);
    T* const log_sum_exp = s.results > 1 ? c.at(t.arrays[s.output + 1]) : nullptr;
    if (uses_tensor_cores(c, p)) {
        launch_tiles(c, tensor_core_attention_body<T>{{p}, y, log_sum_exp}, p.queries);
    } else {
        launch_tiles(c, attention_body<T>{p, y, log_sum_exp}, p.queries);
    }
}

template <class Context>
struct kernel_for<Context, op::attention> : function_kernel<Context, &attention<Context>> {};

} // namespace castnet::cuda
