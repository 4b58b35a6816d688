// Attention whose products are computed on tensor cores (FlashAttention-2, Dao 2023).
#pragma once

#include <castnet/device/cuda/attention_warp.hpp>
#include <castnet/device/reducer.hpp>

#include <cmath>
#include <cstddef>

namespace castnet::cuda {

template <class T>
struct tensor_core_attention_body : tensor_core_attention<T> {
    using problem = tensor_core_attention<T>;

    stored<T> y;
    T* log_sum_exp; // nullptr where nobody wants it

    static constexpr std::size_t bytes = problem::shared_bytes(2);

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_warp(*this, block, this->queries,
                      [&](auto const& warp, int top) { attend(warp, top); });
    }

private:
    // Running softmax of a lane's two rows.
    struct running_softmax {
        float largest[2] = {minus_infinity<float>, minus_infinity<float>};
        float total[2] = {0, 0}; // of the lane's own columns
    };

    template <class Warp>
    CASTNET_HD void attend(Warp const& warp, int top) const {
        constexpr int rows = problem::side; // of a tile
        auto const& head = warp.head;
        auto const& block = warp.block;
        auto const tile_k = problem::shared_tile(block, 0), tile_v = problem::shared_tile(block, 1);
        int const visible = this->keys_of(head.sample);
        warp.load(this->q, this->queries, this->queries, this->features, top, tile_k);
        block.sync();
        auto const query = warp.rows_of(tile_k);
        typename Warp::sums sum{};
        running_softmax running{};
        for_each_tile_of_keys(warp, top, visible, [&](int left) {
            sum_fragment score[rows / 8];
            CASTNET_UNROLL
            for (int n = 0; n < rows / 16; ++n) {
                warp.add_products(query, tile_k, 16 * n, score[2 * n], score[2 * n + 1]);
            }
            if (this->see_all(top + warp.first_row, 16, left, rows, visible)) {
                weigh<true>(warp, top, left, visible, score, running, sum);
            } else {
                weigh<false>(warp, top, left, visible, score, running, sum);
            }
            CASTNET_UNROLL
            for (int n = 0; n < rows / 16; ++n) {
                warp.add_weighted(left_factor(score[2 * n], score[2 * n + 1]), tile_v, 16 * n, sum);
            }
        });
        float factor[2];
        CASTNET_UNROLL
        for (int r = 0; r < 2; ++r) {
            float const total = sum_of_lanes(block, running.total[r], 4);
            int const row = top + warp.first_row + sum_fragment::row(warp.lane, 2 * r);
            factor[r] = total == 0 ? 0.0F : 1 / total; // (a NaN stays one)
            if (log_sum_exp && warp.lane % 4 == 0 && row < this->queries) {
                log_sum_exp[head.row_of_sums() + row] =
                    total == 0 ? T(0) : T(running.largest[r] + std::log(total));
            }
        }
        warp.store(sum, factor, this->queries, this->values, top, y);
    }

    // Scores become weights, but for a factor, and what was summed up with others is scaled.
    template <bool SeeAll, class Warp, int N>
    CASTNET_HD void weigh(Warp const& warp, int top, int left, int visible,
                          sum_fragment (&score)[N], running_softmax& running,
                          typename Warp::sums& sum) const {
        float largest[2] = {running.largest[0], running.largest[1]};
        CASTNET_UNROLL
        for (int n = 0; n < N; ++n) {
            warp.for_each(8 * n, [&](int row, int column, int i) {
                float& s = score[n].of[i];
                s *= static_cast<float>(this->scale);
                bool const seen = SeeAll || this->sees(top + row, left + column, visible);
                if (seen && s > largest[i / 2]) {
                    largest[i / 2] = s;
                }
            });
        }
        CASTNET_UNROLL
        for (int r = 0; r < 2; ++r) {
            largest[r] = largest_of_lanes(warp.block, largest[r], 4);
            float const earlier = running.largest[r] == largest[r]
                                      ? 1.0F
                                      : exponential(running.largest[r] - largest[r]);
            running.largest[r] = largest[r];
            running.total[r] *= earlier;
            CASTNET_UNROLL
            for (auto& s : sum.of) {
                s.of[2 * r] *= earlier;
                s.of[2 * r + 1] *= earlier;
            }
        }
        CASTNET_UNROLL
        for (int n = 0; n < N; ++n) {
            warp.for_each(8 * n, [&](int row, int column, int i) {
                float& s = score[n].of[i];
                bool const seen = SeeAll || this->sees(top + row, left + column, visible);
                s = seen ? exponential(s - largest[i / 2]) : 0.0F;
                running.total[i / 2] += s;
            });
        }
        if (this->form.stream >= 0) {
            CASTNET_UNROLL
            for (int n = 0; n < N; ++n) {
                warp.for_each(8 * n, [&](int row, int column, int i) {
                    float& s = score[n].of[i];
                    if (s != 0) {
                        s *= static_cast<float>(warp.head.dropout(top + row, left + column));
                    }
                });
            }
        }
    }
};

} // namespace castnet::cuda
