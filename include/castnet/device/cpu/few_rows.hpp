// Products with few rows on the left, such as a dense layer of a single sample: the right factor,
// which is much the larger one, is read once and in the order in which it lies, as fast as memory
// gives it.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/panel.hpp>
#include <castnet/device/cpu/few_rows_turned.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/cpu/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace castnet::cpu::inline CASTNET_TARGET {

// Rows of the right factor that are read side by side.
inline constexpr std::ptrdiff_t rows_side_by_side = 8;

// Whether a product has so few rows. (More of them repay packed panels, unless these are narrow and
// of a factor that an L2 cache does not hold; and AMX multiplies several as fast as they are
// packed.)
template <class F>
bool has_few_rows(product<sum_type<F>> const& p) {
    if (uses_amx<F>()) {
        return p.b.column == 1 && p.m <= 2;
    }
    if (p.b.column == 1) {
        bool const is_large = p.k * p.n * std::ptrdiff_t{sizeof(sum_type<F>)} > 32 * l1_cache;
        return p.m <= (has_narrow_panels && is_large ? 16 : 8);
    }
    if constexpr (numbers_in<F> == 1) {
        return has_few_rows_turned(p);
    }
    return false;
}

// Adds `Depth` steps of the depth to sums of `Rows` rows, which have whole vectors: as pairs of
// factors do, the second number of each first. If `fetches`, as many more are fetched.
template <int Rows, int Depth, class F>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
add_steps(matrix<sum_type<F>> const& a, sum_type<F> const* b, std::ptrdiff_t b_row,
          std::ptrdiff_t columns, bool fetches, sum_type<F>* sums, std::ptrdiff_t sums_row) {
    using T = sum_type<F>;
    constexpr int width = simd<T>::width;
    T left[size_t(Rows)][size_t(Depth)];
    for (int i = 0; i < Rows; ++i) {
        for (int k = 0; k < Depth; ++k) {
            left[i][k] = as_factor<F>(a.data[i * a.row + k * a.column]);
        }
    }
    for (std::ptrdiff_t j = 0; j < columns; j += width) {
        vec<T> sum[size_t(Rows)];
        CASTNET_UNROLL
        for (int i = 0; i < Rows; ++i) {
            sum[i] = *reinterpret_cast<vec<T> const*>(sums + i * sums_row + j);
        }
        if (fetches) {
            CASTNET_UNROLL
            for (int k = 0; k < Depth; ++k) {
                __builtin_prefetch(b + (Depth + k) * b_row + j, 0, 2);
            }
        }
        CASTNET_UNROLL
        for (int step = 0; step < Depth; ++step) {
            int const k = Depth % numbers_in<F> == 0 ? step ^ (numbers_in<F> - 1) : step;
            vec<T> const right = as_factor<F>(*reinterpret_cast<vec<T> const*>(b + k * b_row + j));
            CASTNET_UNROLL
            for (int i = 0; i < Rows; ++i) {
                sum[i] = multiply_add(left[i][k], right, sum[i]);
            }
        }
        CASTNET_UNROLL
        for (int i = 0; i < Rows; ++i) {
            *reinterpret_cast<vec<T>*>(sums + i * sums_row + j) = sum[i];
        }
    }
}

// The same of as many steps as AMX takes at once, or fewer, and in its order.
template <int Rows, class F>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
add_amx_steps(std::ptrdiff_t steps, matrix<sum_type<F>> const& a, sum_type<F> const* b,
              std::ptrdiff_t b_row, std::ptrdiff_t columns, sum_type<F>* sums,
              std::ptrdiff_t sums_row) {
    using T = sum_type<F>;
    constexpr int width = simd<T>::width;
    T left[size_t(Rows)][size_t(amx_depth)] = {};
    for (int i = 0; i < Rows; ++i) {
        for (std::ptrdiff_t k = 0; k < steps; ++k) {
            left[i][k] = as_factor<F>(a.data[i * a.row + k * a.column]);
        }
    }
    for (std::ptrdiff_t j = 0; j < columns; j += width) {
        vec<T> first[size_t(Rows)] = {}, second[size_t(Rows)] = {}; // of each pair
        auto const add = [&](vec<T>(&sum)[size_t(Rows)],
                             std::ptrdiff_t k) __attribute__((always_inline)) {
            vec<T> const right = as_factor<F>(*reinterpret_cast<vec<T> const*>(b + k * b_row + j));
            CASTNET_UNROLL
            for (int i = 0; i < Rows; ++i) {
                sum[i] = multiply_add(left[i][k], right, sum[i]);
            }
        };
        std::ptrdiff_t k = 0;
        for (; k + 2 <= steps; k += 2) {
            add(first, k);
            add(second, k + 1);
        }
        if (k < steps) {
            add(first, k);
        }
        CASTNET_UNROLL
        for (int i = 0; i < Rows; ++i) {
            *reinterpret_cast<vec<T>*>(sums + i * sums_row + j) += first[i] + second[i];
        }
    }
}

template <int Depth, class F>
void add_steps(std::ptrdiff_t rows, matrix<sum_type<F>> const& a, sum_type<F> const* b,
               std::ptrdiff_t b_row, std::ptrdiff_t columns, bool fetches, sum_type<F>* sums,
               std::ptrdiff_t sums_row) {
    std::ptrdiff_t i = 0;
    for (; i + 2 <= rows; i += 2) {
        add_steps<2, Depth, F>({a.data + i * a.row, a.row, a.column}, b, b_row, columns,
                               fetches && i == 0, sums + i * sums_row, sums_row);
    }
    if (i < rows) {
        add_steps<1, Depth, F>({a.data + i * a.row, a.row, a.column}, b, b_row, columns,
                               fetches && i == 0, sums + i * sums_row, sums_row);
    }
}

template <class T>
void add_to(T* to, T const* from, std::ptrdiff_t count) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        to[i] += from[i];
    }
}

// sums (m x whole vectors) = the products of the steps from `begin` to `end` in some columns, where
// rows of b are contiguous.
template <class F>
void sum_rows(product<sum_type<F>> const& p, std::ptrdiff_t left, std::ptrdiff_t whole,
              std::ptrdiff_t begin, std::ptrdiff_t end, sum_type<F>* sums) {
    std::fill_n(sums, p.m * whole, sum_type<F>(0));
    if constexpr (knows_amx<F>) {
        if (uses_amx<F>()) {
            for (std::ptrdiff_t k = begin; k < end; k += amx_depth) {
                auto* const add = p.m > 1 ? &add_amx_steps<2, F> : &add_amx_steps<1, F>;
                add(std::min(amx_depth, end - k), {p.a.data + k * p.a.column, p.a.row, p.a.column},
                    p.b.data + k * p.b.row + left, p.b.row, whole, sums, whole);
            }
            return;
        }
    }
    bool const large = p.k * p.n * std::ptrdiff_t{sizeof(sum_type<F>)} > few_rows_fetched_ahead;
    auto const add = [&]<int Depth>(std::integral_constant<int, Depth>, std::ptrdiff_t& k) {
        for (; k + Depth <= end; k += Depth) {
            add_steps<Depth, F>(p.m, {p.a.data + k * p.a.column, p.a.row, p.a.column},
                                p.b.data + k * p.b.row + left, p.b.row, whole,
                                large && Depth == rows_side_by_side, sums, whole);
        }
    };
    std::ptrdiff_t k = begin;
    add(std::integral_constant<int, rows_side_by_side>{}, k);
    add(std::integral_constant<int, numbers_in<F>>{}, k);
    if constexpr (numbers_in<F> > 1) {
        add(std::integral_constant<int, 1>{}, k);
    }
}

// Some columns of a product, as many as the sums have room for: `steps` of the depth are summed up
// before they are added to the result, in the order of tiles (multiply_panels), so that a row does
// not depend on how many others there are. Or b lies turned, and the steps are all of the depth.
template <class F>
void multiply_columns(product<sum_type<F>> const& p, std::ptrdiff_t left, std::ptrdiff_t columns,
                      std::ptrdiff_t steps) {
    using T = sum_type<F>;
    constexpr std::ptrdiff_t width = simd<T>::width;
    panel_scratch<T> sums;
    std::ptrdiff_t const whole = (columns + width - 1) / width * width;
    for (std::ptrdiff_t begin = 0; begin == 0 || begin < p.k; begin += steps) {
        std::ptrdiff_t const end = std::min(begin + steps, p.k);
        if (p.b.column == 1) {
            sum_rows<F>(p, left, whole, begin, end, sums.data);
        } else {
            sum_turned(p, left, columns, sums.data, whole);
        }
        for (std::ptrdiff_t i = 0; i < p.m; ++i) {
            T* const c = p.c + i * p.c_row + left;
            T const* const sum = sums.data + i * whole;
            bool const adds = begin > 0 || p.end.accumulate;
            if (adds) {
                add_to(c, sum, columns);
            } else {
                std::copy_n(sum, columns, c);
            }
            if (end == p.k && p.end.bias) {
                add_to(c, p.end.bias + left, columns);
            }
            if (end == p.k && p.end.rectifies) {
                T const most = p.end.most;
                for (std::ptrdiff_t j = 0; j < columns; ++j) {
                    T const x = c[j] < T(0) ? T(0) : c[j];
                    c[j] = x > most ? most : x;
                }
            }
        }
    }
}

// Threads share the columns.
template <class F>
void multiply_few_rows(product<sum_type<F>> const& p, std::ptrdiff_t steps_at_once) {
    using T = sum_type<F>;
    std::ptrdiff_t const steps = p.b.column == 1 ? steps_at_once : p.k;
    constexpr std::ptrdiff_t width = tile_columns<T>;
    std::ptrdiff_t const most =
        panel_scratch<T>::size / std::max<std::ptrdiff_t>(p.m, 4) / width * width;
    share_range((p.n + width - 1) / width, 2.0 * double(p.m) * double(p.n) * double(p.k),
                [&](std::ptrdiff_t first, std::ptrdiff_t last) {
                    std::ptrdiff_t const end = std::min(last * width, p.n);
                    for (std::ptrdiff_t left = first * width; left < end; left += most) {
                        multiply_columns<F>(p, left, std::min(most, end - left), steps);
                    }
                });
}

} // namespace castnet::cpu::inline CASTNET_TARGET
