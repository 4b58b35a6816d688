// Attention by blocks of queries and keys, whose scores stay in the L2 cache.
//
// A block of scores lies turned, a row for each key, so that vectors lie along the queries and
// nothing is summed up within one.
#pragma once

#include <castnet/core/exponential.hpp>
#include <castnet/device/cpu/attention_head.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace castnet::cpu::inline CASTNET_TARGET {

// Scores become weights, but for a factor of each query: exp(score - largest), where `largest` and
// `total` are those of all keys so far. `earlier`: what the sums so far have to be multiplied by.
template <class T>
[[gnu::noinline]] void weigh(attention_head<T> const& h, std::ptrdiff_t top, std::ptrdiff_t rows,
                             std::ptrdiff_t left, std::ptrdiff_t count, T* scores, T* largest,
                             T* total, T* earlier) {
    constexpr std::ptrdiff_t across = attention_queries;
    std::copy_n(largest, rows, earlier);
    for (std::ptrdiff_t j = 0; j < count; ++j) {
        T const* const row = scores + j * across;
        CASTNET_SIMD
        for (std::ptrdiff_t i = h.first_query(left + j, top, rows); i < rows; ++i) {
            T const x = row[i] * h.scale;
            largest[i] = x > largest[i] ? x : largest[i];
        }
    }
    CASTNET_SIMD
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
        earlier[i] = elementary::exp(earlier[i] - largest[i]);
        total[i] *= earlier[i];
    }
    for (std::ptrdiff_t j = 0; j < count; ++j) {
        T* const row = scores + j * across;
        std::ptrdiff_t const first = h.first_query(left + j, top, rows);
        std::fill_n(row, first, T(0));
        CASTNET_SIMD
        for (std::ptrdiff_t i = first; i < rows; ++i) {
            T const x = elementary::exp(row[i] * h.scale - largest[i]);
            row[i] = x;
            total[i] += x;
        }
    }
}

// The result of a block of queries, at y, and their log_sum_exp where it is wanted.
template <class T>
void attend(attention_head<T> const& h, attention_dropout<T> const& dropout, std::ptrdiff_t top,
            matrix<T> const& result, T* y, T* log_sum_exp) {
    constexpr std::ptrdiff_t across = attention_queries;
    std::ptrdiff_t const rows = std::min(across, h.queries - top);
    T scores[size_t(attention_keys * across)];
    T largest[size_t(across)], total[size_t(across)], factor[size_t(across)];
    std::fill_n(largest, across, -std::numeric_limits<T>::infinity());
    std::fill_n(total, across, T(0));
    y += top * result.row;
    auto const scale_rows = [&] {
        for (std::ptrdiff_t i = 0; i < rows; ++i) {
            CASTNET_SIMD
            for (std::ptrdiff_t n = 0; n < h.values; ++n) {
                y[i * result.row + n] *= factor[i];
            }
        }
    };
    std::ptrdiff_t const end = h.keys_until(top + rows);
    turned_rows<T> const q{rows_from(h.q, top), rows, h.features};
    for (std::ptrdiff_t left = 0; left < end; left += attention_keys) {
        std::ptrdiff_t const count = std::min(attention_keys, end - left);
        multiply<T>(count, rows, h.features, rows_from(h.k, left), q, scores, across);
        weigh(h, top, rows, left, count, scores, largest, total, factor);
        if (left > 0) {
            scale_rows();
        }
        if (dropout.drops()) {
            T kept[size_t(attention_keys * across)];
            dropout.factors(top, rows, left, count, kept);
            for (std::ptrdiff_t j = 0; j < count; ++j) {
                CASTNET_SIMD
                for (std::ptrdiff_t i = 0; i < rows; ++i) {
                    scores[j * across + i] *= kept[j * across + i];
                }
            }
        }
        multiply<T>(rows, h.values, count, {scores, 1, across}, rows_from(h.v, left), y, result.row,
                    {.accumulate = left > 0});
    }
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
        if (end == 0) {
            std::fill_n(y + i * result.row, h.values, T(0));
        }
        factor[i] = end > 0 ? T(1) / total[i] : T(1);
        if (log_sum_exp) {
            log_sum_exp[top + i] = end > 0 ? largest[i] + std::log(total[i]) : T(0);
        }
    }
    scale_rows();
}

template <class T>
void attention(kernel_launch const& s, tables const& t, context<T> const& c) {
    attention_arrays<T> const a{s, t, c, 3};
    array_ref const& y = t.arrays[s.output];
    std::ptrdiff_t const heads = a.form.heads,
                         blocks = (y.size.pixels + attention_queries - 1) / attention_queries;
    parallel_for(c.samples * heads * blocks, double(c.samples * s.flops), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const head = i / blocks % heads, sample = i / blocks / heads;
        attend(a.head(sample, head), a.dropout(sample, head), i % blocks * attention_queries,
               a.matrix_of(y, sample, head), a.head_of(y, sample, head),
               s.results > 1 ? a.rows_of(t.arrays[s.output + 1], sample, head) : nullptr);
    });
}

template <class T>
struct kernel_for<T, op::attention> : function_kernel<T, &attention<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
