// Gradient of attention, whose weights are computed again block by block (attention.hpp).
#pragma once

#include <castnet/core/exponential.hpp>
#include <castnet/device/cpu/attention_head.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
T dot_product(T const* a, T const* b, std::ptrdiff_t count) {
    constexpr std::ptrdiff_t width = simd<T>::width;
    T part[size_t(width)] = {};
    std::ptrdiff_t i = 0;
    for (; i + width <= count; i += width) {
        CASTNET_SIMD
        for (std::ptrdiff_t j = 0; j < width; ++j) {
            part[j] += a[i + j] * b[i + j];
        }
    }
    for (std::ptrdiff_t j = 0; i < count; ++i, ++j) {
        part[j] += a[i] * b[i];
    }
    T sum = 0;
    for (T const x : part) {
        sum += x;
    }
    return sum;
}

// Operands of a gradient besides the head's matrices, and its results.
template <class T>
struct attention_gradients {
    matrix<T> y, dy;
    T const* log_sum_exp;
    T *dq, *dk, *dv; // rows as those of q, k, v
};

// A block of scores becomes weights, and one of the gradients by the weights those by the scores.
// `mean`: for each query the sum of its weights times their gradients. `kept`: factors of the
// weights where some are dropped.
template <bool Drops, class T>
[[gnu::noinline]] void turn_back(attention_head<T> const& h, std::ptrdiff_t top,
                                 std::ptrdiff_t rows, std::ptrdiff_t left, std::ptrdiff_t count,
                                 T* scores, T* gradients, T const* log_sum_exp, T const* mean,
                                 T const* kept) {
    constexpr std::ptrdiff_t across = attention_queries;
    for (std::ptrdiff_t j = 0; j < count; ++j) {
        T *const row = scores + j * across, *const gradient = gradients + j * across;
        T const* const factor = kept + j * across;
        std::ptrdiff_t const first = h.first_query(left + j, top, rows);
        std::fill_n(row, first, T(0));
        std::fill_n(gradient, first, T(0));
        CASTNET_SIMD
        for (std::ptrdiff_t i = first; i < rows; ++i) {
            T const weight = elementary::exp(row[i] * h.scale - log_sum_exp[i]);
            if constexpr (Drops) {
                row[i] = weight * factor[i];
                gradient[i] = weight * (gradient[i] * factor[i] - mean[i]) * h.scale;
            } else {
                row[i] = weight;
                gradient[i] = weight * (gradient[i] - mean[i]) * h.scale;
            }
        }
    }
}

template <class T>
void attend_back(attention_head<T> const& h, attention_dropout<T> const& dropout,
                 attention_gradients<T> const& g, std::ptrdiff_t top) {
    constexpr std::ptrdiff_t across = attention_queries;
    std::ptrdiff_t const rows = std::min(across, h.queries - top), end = h.keys_until(top + rows);
    T scores[size_t(attention_keys * across)], gradients[size_t(attention_keys * across)],
        kept[size_t(attention_keys * across)], mean[size_t(across)];
    matrix<T> const q = rows_from(h.q, top), y = rows_from(g.y, top), dy = rows_from(g.dy, top);
    T* const dq = g.dq + top * q.row;
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
        mean[i] = dot_product(y.data + i * y.row, dy.data + i * dy.row, h.values);
        if (end == 0) {
            std::fill_n(dq + i * q.row, h.features, T(0));
        }
    }
    turned_rows<T> const turned_q{q, rows, h.features}, turned_dy{dy, rows, h.values};
    for (std::ptrdiff_t left = 0; left < end; left += attention_keys) {
        std::ptrdiff_t const count = std::min(attention_keys, end - left);
        matrix<T> const k = rows_from(h.k, left), v = rows_from(h.v, left);
        multiply<T>(count, rows, h.features, k, turned_q, scores, across);
        multiply<T>(count, rows, h.values, v, turned_dy, gradients, across);
        auto* const turn = dropout.drops() ? &turn_back<true, T> : &turn_back<false, T>;
        if (dropout.drops()) {
            dropout.factors(top, rows, left, count, kept);
        }
        turn(h, top, rows, left, count, scores, gradients, g.log_sum_exp + top, mean, kept);
        multiply<T>(count, h.values, rows, {scores, across, 1}, dy, g.dv + left * v.row, v.row,
                    {.accumulate = true});
        multiply<T>(count, h.features, rows, {gradients, across, 1}, q, g.dk + left * k.row, k.row,
                    {.accumulate = true});
        multiply<T>(rows, h.features, count, {gradients, 1, across}, k, dq, q.row,
                    {.accumulate = left > 0});
    }
}

// A thread takes a head of a sample, whose keys get their gradients from all blocks of queries.
template <class T>
void attention_gradient(kernel_launch const& s, tables const& t, context<T> const& c) {
    attention_arrays<T> const a{s, t, c, 6};
    array_ref const *const in = t.arrays + s.first_array, *const out = t.arrays + s.output;
    std::ptrdiff_t const heads = a.form.heads;
    parallel_for(c.samples * heads, double(c.samples * s.flops), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const sample = i / heads, head = i % heads;
        attention_head<T> const h = a.head(sample, head);
        attention_dropout<T> const dropout = a.dropout(sample, head);
        attention_gradients<T> const g{
            a.matrix_of(in[3], sample, head), a.matrix_of(in[5], sample, head),
            a.rows_of(in[4], sample, head),   a.head_of(out[0], sample, head),
            a.head_of(out[1], sample, head),  a.head_of(out[2], sample, head)};
        for (std::ptrdiff_t key = 0; key < a.k.size.pixels; ++key) {
            std::fill_n(g.dk + key * h.k.row, h.features, T(0));
            std::fill_n(g.dv + key * h.v.row, h.values, T(0));
        }
        for (std::ptrdiff_t top = 0; top < h.queries; top += attention_queries) {
            attend_back(h, dropout, g, top);
        }
    });
}

template <class T>
struct kernel_for<T, op::attention_gradient> : function_kernel<T, &attention_gradient<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
