// One head of attention: its matrices, the keys that its queries see, and the random factors of its
// weights.
#pragma once

#include <castnet/device/cpu/map.hpp>
#include <castnet/device/cpu/matmul.hpp>
#include <castnet/graph/attention_form.hpp>

#include <algorithm>
#include <cmath>

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
                auto const at = [&](std::ptrdiff_t j) {
                    return point{sample, first_row + top + i, left + j, 0, keys};
                };
                auto const factor = [&](std::ptrdiff_t j) __attribute__((always_inline)) {
                    return select(uniform<T>(words(random, 0, at(j))) < keep, T(1) / keep, T(0));
                };
                std::ptrdiff_t const end = std::min(first + random_words::most, count);
                words.draw(random, static_cast<std::uint32_t>(stream), at(first), end - first);
                CASTNET_SIMD
                for (std::ptrdiff_t j = first; j < end; ++j) {
                    to[j * attention_queries + i] = factor(j);
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

} // namespace castnet::cpu::inline CASTNET_TARGET
