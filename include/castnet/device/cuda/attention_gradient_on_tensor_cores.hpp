// Gradients of attention whose products are computed on tensor cores. As attention_gradient.hpp,
// they are two kernels.
#pragma once

#include <castnet/device/cuda/attention_on_tensor_cores.hpp>

#include <cmath>
#include <cstddef>

namespace castnet::cuda {

// What both kernels of the gradient need.
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

    // A score becomes a weight, and the gradient by the weight that by the score. `mean` is the sum
    // of the query's weights times their gradients.
    template <class Head>
    CASTNET_HD void turn_back(Head const& head, int query, int key, bool is_seen, float mean,
                              float log_sum, float& score, float& gradient) const {
        if (is_seen) {
            auto const scale = static_cast<float>(this->scale);
            auto const factor = static_cast<float>(head.dropout(query, key));
            float const weight = std::exp(score * scale - log_sum);
            score = weight * factor;
            gradient = weight * (gradient * factor - mean) * scale;
        } else {
            score = gradient = 0;
        }
    }
};

// The gradients by queries: a block goes through the keys of a tile of queries.
template <class T>
struct tensor_core_query_gradient_body : tensor_core_attention_gradient<T> {
    using problem = tensor_core_attention<T>;

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
        constexpr int side = problem::side;
        auto const& head = warp.head;
        auto const& block = warp.block;
        auto const tile_k = problem::shared_tile(block, 0), tile_v = problem::shared_tile(block, 1);
        float* const means = problem::after_tiles(block, 2);
        int const visible = this->keys_of(head.sample), of_features = this->feature_blocks(),
                  of_values = this->value_blocks();
        warp.load(this->q, this->queries, this->queries, this->features, top, tile_k);
        warp.load_gradients(this->dy, this->y, top, tile_v, means);
        block.sync();
        auto const query = warp.rows_of(tile_k, of_features),
                   gradient = warp.rows_of(tile_v, of_values);
        float mean[2], log_sum[2];
        CASTNET_UNROLL
        for (int r = 0; r < 2; ++r) {
            int const row = warp.first_row + sum_fragment::row(warp.lane, 2 * r);
            mean[r] = means[row];
            log_sum[r] = this->log_sum_of(head, top + row);
        }
        typename Warp::sums sum{};
        for_each_tile_of_keys(warp, top, visible, [&](int left) {
            bool const all = this->see_all(top + warp.first_row, 16, left, side, visible);
            CASTNET_NO_UNROLL
            for (int n = 0; n < side; n += 16) {
                sum_fragment score[2], slope[2];
                warp.add_products(query, tile_k, n, of_features, score[0], score[1]);
                warp.add_products(gradient, tile_v, n, of_values, slope[0], slope[1]);
                CASTNET_UNROLL
                for (int h = 0; h < 2; ++h) {
                    warp.for_each(n + 8 * h, [&](int row, int column, int i) {
                        bool const seen = all || this->sees(top + row, left + column, visible);
                        this->turn_back(head, top + row, left + column, seen, mean[i / 2],
                                        log_sum[i / 2], score[h].of[i], slope[h].of[i]);
                    });
                }
                warp.add_weighted(left_factor(slope[0], slope[1]), tile_k, n, of_features, sum);
            }
        });
        warp.store(sum, {1, 1}, this->queries, this->features, top, dq);
    }
};

// The gradients by keys and values: a block goes through the queries of a tile of keys.
template <class T>
struct tensor_core_key_gradient_body : tensor_core_attention_gradient<T> {
    using problem = tensor_core_attention<T>;

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
        constexpr int side = problem::side;
        auto const& head = warp.head;
        auto const& block = warp.block;
        auto const tile_q = problem::shared_tile(block, 0),
                   tile_dy = problem::shared_tile(block, 1);
        float *const mean = problem::after_tiles(block, 2), *const log_sum = mean + side;
        int const visible = this->keys_of(head.sample), of_features = this->feature_blocks(),
                  of_values = this->value_blocks();
        warp.load(this->k, this->keys, visible, this->features, left, tile_q);
        warp.load(this->v, this->keys, visible, this->values, left, tile_dy);
        block.sync();
        auto const key = warp.rows_of(tile_q, of_features),
                   value = warp.rows_of(tile_dy, of_values);
        typename Warp::sums sum_k{}, sum_v{};
        int const begin = this->form.causal ? left : 0;
        for (int top = begin; left < visible && top < this->queries; top += side) {
            block.sync();
            warp.load(this->q, this->queries, this->queries, this->features, top, tile_q);
            warp.load_gradients(this->dy, this->y, top, tile_dy, mean);
            for (auto i = int(block.thread()); i < side; i += int(block.threads())) {
                log_sum[i] = this->log_sum_of(head, top + i);
            }
            block.sync();
            bool const all = this->see_all(top, side, left + warp.first_row, 16, visible);
            CASTNET_NO_UNROLL
            for (int n = 0; n < side; n += 16) { // (scores of keys, in rows, with queries)
                sum_fragment score[2], slope[2];
                warp.add_products(key, tile_q, n, of_features, score[0], score[1]);
                warp.add_products(value, tile_dy, n, of_values, slope[0], slope[1]);
                CASTNET_UNROLL
                for (int h = 0; h < 2; ++h) {
                    warp.for_each(n + 8 * h, [&](int row, int column, int i) {
                        bool const seen = all || this->sees(top + column, left + row, visible);
                        this->turn_back(head, top + column, left + row, seen, mean[column],
                                        log_sum[column], score[h].of[i], slope[h].of[i]);
                    });
                }
                warp.add_weighted(left_factor(score[0], score[1]), tile_dy, n, of_values, sum_v);
                warp.add_weighted(left_factor(slope[0], slope[1]), tile_q, n, of_features, sum_k);
            }
        }
        warp.store(sum_k, {1, 1}, this->keys, this->features, left, dk);
        warp.store(sum_v, {1, 1}, this->keys, this->values, left, dv);
    }
};

} // namespace castnet::cuda
