// Gradients of attention whose products are computed on tensor cores. As attention_gradient.hpp,
// they are two kernels.
#pragma once

#include <castnet/device/cuda/attention_warp.hpp>

#include <cstddef>

namespace castnet::cuda {

// Arguments of both kernels of the gradient.
template <class T>
struct tensor_core_attention_gradient : tensor_core_attention<T> {
    stored<T> y, dy;
    T const* log_sum_exp;

    // 0 after the last query.
    template <class Head>
    CASTNET_HD float log_sum_of(Head const& head, int query) const {
        return query < this->queries ? static_cast<float>(log_sum_exp[head.row_of_sums() + query])
                                     : 0;
    }

    // Scores of 16 x 8 become weights, and the gradients by weights those by scores.
    // numbers_of(row, column, index in the fragment) says which query and key these are of, the sum
    // of the query's weights times their gradients, and the logarithm of its sum. `plain`: all are
    // seen, and none is dropped.
    struct element {
        int query, key;
        float mean, log_sum;
    };
    template <class Warp, class F>
    CASTNET_HD void turn_back(Warp const& warp, int column, bool plain, int visible,
                              sum_fragment& score, sum_fragment& gradient,
                              F const& numbers_of) const {
        auto const score_scale = static_cast<float>(this->scale);
        if (plain) {
            warp.for_each(column, [&](int row, int at, int i) {
                element const e = numbers_of(row, at, i);
                float const weight = exponential(score.of[i] * score_scale - e.log_sum);
                score.of[i] = weight;
                gradient.of[i] = weight * (gradient.of[i] - e.mean) * score_scale;
            });
            return;
        }
        warp.for_each(column, [&](int row, int at, int i) {
            element const e = numbers_of(row, at, i);
            if (this->sees(e.query, e.key, visible)) {
                auto const factor = static_cast<float>(warp.head.dropout(e.query, e.key));
                float const weight = exponential(score.of[i] * score_scale - e.log_sum);
                score.of[i] = weight * factor;
                gradient.of[i] = weight * (gradient.of[i] * factor - e.mean) * score_scale;
            } else {
                score.of[i] = gradient.of[i] = 0;
            }
        });
    }
    CASTNET_HD bool is_plain(int query, int query_count, int key_number, int key_count,
                             int visible) const {
        return this->form.stream < 0 &&
               this->see_all(query, query_count, key_number, key_count, visible);
    }
};

// The gradients by queries: a block goes through the keys of a tile of queries.
template <class T>
struct tensor_core_query_gradient_body : tensor_core_attention_gradient<T> {
    using problem = tensor_core_attention<T>;
    using element = typename tensor_core_attention_gradient<T>::element;

    stored<T> dq;

    static constexpr std::size_t bytes = problem::shared_bytes(2, problem::side);

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_warp(*this, block, this->queries,
                      [&](auto const& warp, int top) { add_keys(warp, top); });
    }

private:
    template <class Warp>
    CASTNET_HD void add_keys(Warp const& warp, int top) const {
        constexpr int rows = problem::side; // of a tile
        auto const& head = warp.head;
        auto const& block = warp.block;
        auto const tile_k = problem::shared_tile(block, 0), tile_v = problem::shared_tile(block, 1);
        float* const means = problem::after_tiles(block, 2);
        int const visible = this->keys_of(head.sample);
        warp.load(this->q, this->queries, this->queries, this->features, top, tile_k);
        warp.load_gradients(this->dy, this->y, top, tile_v, means);
        block.sync();
        auto const query = warp.rows_of(tile_k), gradient = warp.rows_of(tile_v);
        float mean[2], log_sum[2];
        CASTNET_UNROLL
        for (int r = 0; r < 2; ++r) {
            int const row = warp.first_row + sum_fragment::row(warp.lane, 2 * r);
            mean[r] = means[row];
            log_sum[r] = this->log_sum_of(head, top + row);
        }
        typename Warp::sums sum{};
        for_each_tile_of_keys(warp, top, visible, [&](int left) {
            bool const plain = this->is_plain(top + warp.first_row, 16, left, rows, visible);
            CASTNET_NO_UNROLL
            for (int n = 0; n < rows; n += 16) {
                sum_fragment score[2], slope[2];
                warp.add_products(query, tile_k, n, score[0], score[1]);
                warp.add_products(gradient, tile_v, n, slope[0], slope[1]);
                CASTNET_UNROLL
                for (int h = 0; h < 2; ++h) {
                    this->turn_back(warp, n + 8 * h, plain, visible, score[h], slope[h],
                                    [&](int row, int column, int i) {
                                        return element{top + row, left + column, mean[i / 2],
                                                       log_sum[i / 2]};
                                    });
                }
                warp.add_weighted(left_factor(slope[0], slope[1]), tile_k, n, sum);
            }
        });
        warp.store(sum, {1, 1}, this->queries, this->features, top, dq);
    }
};

// The gradients by keys and values: a block goes through the queries of a tile of keys.
template <class T>
struct tensor_core_key_gradient_body : tensor_core_attention_gradient<T> {
    using problem = tensor_core_attention<T>;
    using element = typename tensor_core_attention_gradient<T>::element;

    stored<T> dk, dv;

    static constexpr std::size_t bytes = problem::shared_bytes(2, 2 * problem::side);

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_warp(*this, block, this->keys,
                      [&](auto const& warp, int left) { add_queries(warp, left); });
    }

private:
    template <class Warp>
    CASTNET_HD void add_queries(Warp const& warp, int left) const {
        constexpr int rows = problem::side; // of a tile
        auto const& head = warp.head;
        auto const& block = warp.block;
        auto const tile_q = problem::shared_tile(block, 0),
                   tile_dy = problem::shared_tile(block, 1);
        float *const mean = problem::after_tiles(block, 2), *const log_sum = mean + rows;
        int const visible = this->keys_of(head.sample);
        warp.load(this->k, this->keys, visible, this->features, left, tile_q);
        warp.load(this->v, this->keys, visible, this->values, left, tile_dy);
        block.sync();
        auto const key_rows = warp.rows_of(tile_q), value_rows = warp.rows_of(tile_dy);
        typename Warp::sums sum_k{}, sum_v{};
        int const begin = this->form.causal ? left : 0;
        for (int top = begin; left < visible && top < this->queries; top += rows) {
            block.sync();
            warp.load(this->q, this->queries, this->queries, this->features, top, tile_q);
            warp.load_gradients(this->dy, this->y, top, tile_dy, mean);
            for (auto i = int(block.thread()); i < rows; i += int(block.threads())) {
                log_sum[i] = this->log_sum_of(head, top + i);
            }
            block.sync();
            bool const plain = this->is_plain(top, rows, left + warp.first_row, 16, visible);
            CASTNET_NO_UNROLL
            for (int n = 0; n < rows; n += 16) { // (scores of keys, in rows, with queries)
                sum_fragment score[2], slope[2];
                warp.add_products(key_rows, tile_q, n, score[0], score[1]);
                warp.add_products(value_rows, tile_dy, n, slope[0], slope[1]);
                CASTNET_UNROLL
                for (int h = 0; h < 2; ++h) {
                    this->turn_back(warp, n + 8 * h, plain, visible, score[h], slope[h],
                                    [&](int row, int column, int) {
                                        return element{top + column, left + row, mean[column],
                                                       log_sum[column]};
                                    });
                }
                warp.add_weighted(left_factor(score[0], score[1]), tile_dy, n, sum_v);
                warp.add_weighted(left_factor(slope[0], slope[1]), tile_q, n, sum_k);
            }
        }
        warp.store(sum_k, {1, 1}, this->keys, this->features, left, dk);
        warp.store(sum_v, {1, 1}, this->keys, this->values, left, dv);
    }
};

} // namespace castnet::cuda
