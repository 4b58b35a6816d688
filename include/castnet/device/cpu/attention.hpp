// Attention by blocks of queries and keys, whose scores stay in the L2 cache.
//
// A block of scores lies turned, a row for each key, so that vectors lie along the queries and
// nothing is summed up within one.
#pragma once

#include <castnet/core/exponential.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/device/cpu/map.hpp>
#include <castnet/device/cpu/matmul.hpp>
#include <castnet/graph/attention_form.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace castnet::cpu::inline CASTNET_TARGET {

// The first key of a block comes before its queries wherever the block is not masked as a whole.
static_assert(attention_keys % attention_queries == 0);

// One head of one sample: matrices of some columns of the arrays, and the sizes of the problem.
template <class T>
struct attention_head {
    std::ptrdiff_t queries, keys; // those that count
    std::ptrdiff_t features, values;
    T scale;
    bool causal;
    matrix<T> q, k, v;

    // Keys that one of these queries sees.
    std::ptrdiff_t keys_until(std::ptrdiff_t last_query) const {
        return causal ? std::min(keys, last_query) : keys;
    }
    // The first query of a block that sees a key.
    std::ptrdiff_t first_query(std::ptrdiff_t key, std::ptrdiff_t top, std::ptrdiff_t rows) const {
        return causal ? std::clamp(key - top, std::ptrdiff_t{0}, rows) : 0;
    }
};

// Random factors of the weights in a block.
template <class T>
struct attention_dropout {
    program_arguments<T> random{};
    int stream = -1;
    T keep = 1;
    std::ptrdiff_t keys = 0, sample = 0, first_row = 0; // of the head's weights, all keys

    bool drops() const { return stream >= 0; }

    // Those of `rows` queries from `top` on and `count` keys from `left` on, turned.
    void factors(std::ptrdiff_t top, std::ptrdiff_t rows, std::ptrdiff_t left, std::ptrdiff_t count,
                 T* to) const {
        random_words words;
        for (std::ptrdiff_t i = 0; i < rows; ++i) {
            for (std::ptrdiff_t first = 0; first < count; first += random_words::most) {
                point p{sample, first_row + top + i, left + first, 0, keys};
                std::ptrdiff_t const end = std::min(first + random_words::most, count);
                words.draw(random, static_cast<std::uint32_t>(stream), p, end - first);
                for (std::ptrdiff_t j = first; j < end; ++j, ++p.channel) {
                    T const x = uniform<T>(words(random, 0, p));
                    to[j * attention_queries + i] = x < keep ? T(1) / keep : T(0);
                }
            }
        }
    }
};

// The arrays of a launch of attention or of its gradient.
template <class T>
struct attention_arrays {
    attention_form form;
    array_ref const &q, &k, &v;
    array_ref const* lengths;
    tables const& t;
    kernel_launch const& s;
    context<T> const& c;

    attention_arrays(kernel_launch const& launch, tables const& all, context<T> const& with,
                     int without_lengths)
        : form{attention_form::unpacked(launch.attribute)}, q{all.arrays[launch.first_array]},
          k{(&q)[1]}, v{(&q)[2]},
          lengths{launch.arrays > without_lengths ? &q + without_lengths : nullptr}, t{all},
          s{launch}, c{with} {}

    // A head's columns of an array.
    T* head_of(array_ref const& r, std::ptrdiff_t sample, std::ptrdiff_t head) const {
        return c.at(r) + sample * r.size.count() + head * (r.size.channels / form.heads);
    }
    T* rows_of(array_ref const& sums, std::ptrdiff_t sample, std::ptrdiff_t head) const {
        return c.at(sums) + (sample * form.heads + head) * sums.size.channels;
    }
    matrix<T> matrix_of(array_ref const& r, std::ptrdiff_t sample, std::ptrdiff_t head) const {
        return {head_of(r, sample, head), r.size.channels, 1};
    }

    attention_head<T> head(std::ptrdiff_t sample, std::ptrdiff_t number) const {
        std::ptrdiff_t const features = q.size.channels / form.heads,
                             keys = lengths ? keys_before(c.at(*lengths)[sample], k.size.pixels)
                                            : k.size.pixels;
        return {q.size.pixels,
                keys,
                features,
                v.size.channels / form.heads,
                T(1) / std::sqrt(static_cast<T>(features)),
                form.causal,
                matrix_of(q, sample, number),
                matrix_of(k, sample, number),
                matrix_of(v, sample, number)};
    }
    attention_dropout<T> dropout(std::ptrdiff_t sample, std::ptrdiff_t number) const {
        attention_dropout<T> d;
        d.random.key = c.key;
        d.random.step = c.step;
        d.random.first_sample = c.first_sample + static_cast<std::uint32_t>(c.first);
        d.random.first_stream = static_cast<std::uint32_t>(c.repetition * s.random_streams);
        d.stream = form.stream;
        d.keep = static_cast<T>(s.factor);
        d.keys = k.size.pixels;
        d.sample = sample;
        d.first_row = number * q.size.pixels;
        return d;
    }
};

// Rows of a matrix from `first` on.
template <class T>
matrix<T> rows_from(matrix<T> const& m, std::ptrdiff_t first) {
    return {m.data + first * m.row, m.row, m.column};
}

// The rows of a block turned, once for all products that want them so.
template <class T>
class turned_rows {
public:
    turned_rows(matrix<T> const& m, std::ptrdiff_t rows, std::ptrdiff_t columns)
        : turned_{m.data, m.column, m.row} {
        if (columns <= most_columns) {
            transpose(rows, columns, m.data, m.row, data_, attention_queries);
            turned_ = {data_, attention_queries, 1};
        }
    }
    turned_rows(turned_rows const&) = delete;
    turned_rows& operator=(turned_rows const&) = delete;

    operator matrix<T> const&() const { return turned_; }

private:
    static constexpr std::ptrdiff_t most_columns = 128;
    matrix<T> turned_;
    alignas(64) T data_[size_t(most_columns * attention_queries)];
};

template <class T>
T dot_product(T const* a, T const* b, std::ptrdiff_t count) {
    constexpr std::ptrdiff_t width = simd<T>::width;
    T part[size_t(width)] = {};
    std::ptrdiff_t i = 0;
    for (; i + width <= count; i += width) {
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
        CASTNET_IVDEP
        for (std::ptrdiff_t i = h.first_query(left + j, top, rows); i < rows; ++i) {
            T const x = row[i] * h.scale;
            largest[i] = x > largest[i] ? x : largest[i];
        }
    }
    CASTNET_IVDEP
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
        earlier[i] = elementary::exp(earlier[i] - largest[i]);
        total[i] *= earlier[i];
    }
    for (std::ptrdiff_t j = 0; j < count; ++j) {
        T* const row = scores + j * across;
        std::ptrdiff_t const first = h.first_query(left + j, top, rows);
        std::fill_n(row, first, T(0));
        CASTNET_IVDEP
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

// What a gradient reads besides the head's matrices, and its results.
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
        CASTNET_IVDEP
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
struct kernel_for<T, op::attention> : function_kernel<T, &attention<T>> {};
template <class T>
struct kernel_for<T, op::attention_gradient> : function_kernel<T, &attention_gradient<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
