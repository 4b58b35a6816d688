// Products of little depth and no end, such as the gradient of a dense layer's weight by a few
// samples: each row of the result is made as a whole, while the few rows of the right factor are in
// the L1 cache. (A tile of several rows would take longer to begin and to end than to multiply.)
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/panel.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/cpu/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
constexpr bool has_few_steps(product<T> const& p) {
    bool const ends = p.end.accumulate || p.end.bias || p.end.rectifies;
    return p.k > 0 && p.k <= 8 && p.b.column == 1 && !ends;
}

// Adds `Steps` steps of the depth to some columns of two rows of the result, or begins their sums.
// Rows of b are read up to whole vectors.
template <int Steps, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
multiply_steps(matrix<T> const& a, T const* b, std::ptrdiff_t b_row, std::ptrdiff_t columns,
               bool begins, T* first, T* second) {
    constexpr std::ptrdiff_t width = simd<T>::width;
    T left[2][size_t(Steps)];
    for (int k = 0; k < Steps; ++k) {
        left[0][k] = a.data[k * a.column];
        left[1][k] = a.data[a.row + k * a.column];
    }
    auto const add = [&](std::ptrdiff_t j, vec<T>(&sum)[2]) __attribute__((always_inline)) {
        CASTNET_UNROLL
        for (int k = 0; k < Steps; ++k) {
            vec<T> const right = *reinterpret_cast<vec<T> const*>(b + k * b_row + j);
            sum[0] = multiply_add(left[0][k], right, sum[0]);
            sum[1] = multiply_add(left[1][k], right, sum[1]);
        }
    };
    std::ptrdiff_t j = 0;
    for (; j + width <= columns; j += width) {
        vec<T>&to = *reinterpret_cast<vec<T>*>(first + j),
        &to_second = *reinterpret_cast<vec<T>*>(second + j);
        vec<T> sum[2] = {};
        if (!begins) {
            sum[0] = to;
            sum[1] = to_second;
        }
        add(j, sum);
        to = sum[0];
        to_second = sum[1];
    }
    if (j < columns) {
        std::size_t const rest = size_t(columns - j) * sizeof(T);
        vec<T> sum[2] = {};
        if (!begins) {
            std::memcpy(&sum[0], first + j, rest);
            std::memcpy(&sum[1], second + j, rest);
        }
        add(j, sum);
        std::memcpy(first + j, &sum[0], rest);
        std::memcpy(second + j, &sum[1], rest);
    }
}

// Some columns, from `left` on, of rows i and i + 1 of c = a * b.
template <class T>
void multiply_few_steps(product<T> const& p, std::ptrdiff_t i, std::ptrdiff_t left,
                        std::ptrdiff_t columns) {
    bool const both = i + 1 < p.m; // else one row is made twice
    T *const first = p.c + i * p.c_row + left, *const second = both ? first + p.c_row : first;
    std::ptrdiff_t k = 0;
    auto const add = [&]<int Steps>(std::integral_constant<int, Steps>) {
        for (; k + Steps <= p.k; k += Steps) {
            matrix<T> const a{p.a.data + i * p.a.row + k * p.a.column, both ? p.a.row : 0,
                              p.a.column};
            multiply_steps<Steps>(a, p.b.data + k * p.b.row + left, p.b.row, columns, k == 0, first,
                                  second);
        }
    };
    add(std::integral_constant<int, 4>{});
    add(std::integral_constant<int, 2>{});
    add(std::integral_constant<int, 1>{});
}

// c = a * b: the steps of each sum follow one another as in a tile. Threads share the rows.
template <class T>
void multiply_few_steps(product<T> const& p) {
    std::ptrdiff_t const at_once = l1_cache / 2 / std::ptrdiff_t{sizeof(T)} / p.k;
    share_range((p.m + 1) / 2, 2.0 * double(p.m) * double(p.n) * double(p.k),
                [&](std::ptrdiff_t from, std::ptrdiff_t to) {
                    for (std::ptrdiff_t left = 0; left < p.n; left += at_once) {
                        for (std::ptrdiff_t pair = from; pair < to; ++pair) {
                            multiply_few_steps(p, 2 * pair, left, std::min(at_once, p.n - left));
                        }
                    }
                });
}

} // namespace castnet::cpu::inline CASTNET_TARGET
