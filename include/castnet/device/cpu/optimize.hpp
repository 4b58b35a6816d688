// Optimizer update of all parameters in one pass, and the squared norm of their gradients.
#pragma once

#include <castnet/cpu/vector.hpp>
#include <castnet/device/cpu/gradient_rows.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/penalized_gradient.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

// Operands of an optimizer's rule: parameters, their gradients, and their slots, `slot_stride`
// apart.
template <class T>
struct optimized {
    T scale, l1, two_l2;
    T* parameters;
    T const* gradients;
    T* slots;
    std::ptrdiff_t slot_stride;
};

template <class V, class T>
V numbers_at(T const* from) {
    V v;
    std::memcpy(&v, from, sizeof v);
    return v;
}
template <class V, class T>
void put_numbers(T* to, V const& v) {
    std::memcpy(to, &v, sizeof v);
}

// Calls f(parameter, slots…) for one V, a scalar or a vector, from parameter i on, and stores them.
template <class V, class T, class F, std::size_t... S>
void change_at(std::ptrdiff_t i, optimized<T> const& o, std::index_sequence<S...>, F const& f) {
    V p = numbers_at<V>(o.parameters + i);
    [[maybe_unused]] V slot[] = {numbers_at<V>(o.slots + S * std::size_t(o.slot_stride) + i)...,
                                 V{}};
    f(p, slot[S]...);
    put_numbers(o.parameters + i, p);
    (..., put_numbers(o.slots + S * std::size_t(o.slot_stride) + i, slot[S]));
}

// Applies the rule to it.
template <class V, class Rule, class T, class Slots>
void optimize_at(std::ptrdiff_t i, Rule const& rule, optimized<T> const& o, Slots each) {
    change_at<V>(i, o, each, [&](V& p, auto&... slot) {
        rule(p, penalized_gradient(numbers_at<V>(o.gradients + i), o.scale, p, o.l1, o.two_l2),
             slot...);
    });
}

// Whether the rule accepts vectors, which nvcc does not support as template arguments.
template <class Rule, class T, std::size_t... S>
constexpr bool takes_vectors(std::index_sequence<S...>) {
#ifndef __CUDACC__
    typedef T vector __attribute__((vector_size(vector_bytes)));
    return requires(Rule const& rule, vector p, vector const g, vector(&slot)[sizeof...(S) + 1]) {
        rule(p, g, slot[S]...);
    };
#else
    return false;
#endif
}

// Calls f.template operator()<V>(i) for the vectors that make up the range [i, last) and the single
// numbers at its end; without Vectors, for all numbers.
template <bool Vectors, class T, class F>
void each_vector(std::ptrdiff_t i, std::ptrdiff_t last, F f) { // whose copy no store can change
#ifndef __CUDACC__
    typedef T vector __attribute__((vector_size(vector_bytes)));
    constexpr std::ptrdiff_t width = simd<T>::width;
    if constexpr (Vectors) {
        for (; i + width <= last; i += width) {
            f.template operator()<vector>(i);
        }
    }
#endif
    for (; i < last; ++i) {
        f.template operator()<T>(i);
    }
}

// The same on all threads, for pieces of the range, on copies of f.
template <bool Vectors, class T, class F>
void for_each_vector(std::ptrdiff_t first, std::ptrdiff_t last, F const& f) {
    constexpr std::ptrdiff_t piece = 4096;
    std::ptrdiff_t const pieces = (last - first + piece - 1) / piece;
    parallel_for(pieces, update_flops * double(last - first), [=](std::ptrdiff_t k) {
        std::ptrdiff_t const i = first + k * piece;
        each_vector<Vectors, T>(i, i + piece < last ? i + piece : last, f);
    });
}

// Updates parameters[first, last): multiplies gradients with `scale` (1 / sum of weights), adds the
// penalty's gradient, and applies the optimizer's rule. Slots lie `slot_stride` apart.
template <int Slots, class Rule, class T>
void optimize(Rule const& rule, penalty const& cost, T scale, T* parameters, T const* gradients,
              T* slots, std::ptrdiff_t slot_stride, std::ptrdiff_t first, std::ptrdiff_t last) {
    constexpr auto each = std::make_index_sequence<std::size_t(Slots)>{};
    optimized<T> const all{scale,
                           static_cast<T>(cost.l1),
                           static_cast<T>(2 * cost.l2),
                           parameters,
                           gradients,
                           slots,
                           slot_stride};
    for_each_vector<takes_vectors<Rule, T>(each), T>(
        first, last, [=]<class V>(std::ptrdiff_t i) { optimize_at<V>(i, rule, all, each); });
}

// The same for the rows of a table, which begins with element `first`, whose gradients are not 0.
template <int Slots, class Rule, class T>
void optimize_rows(Rule const& rule, optimized<T> const& all, std::ptrdiff_t first,
                   gradient_rows const& table) {
    constexpr auto each = std::make_index_sequence<std::size_t(Slots)>{};
    std::ptrdiff_t const columns = table.columns(), rows = table.are_known()
                                                               ? std::ptrdiff_t(table.used().size())
                                                               : table.count();
    auto const update = [=]<class V>(std::ptrdiff_t i) { optimize_at<V>(i, rule, all, each); };
    double const work = update_flops * double(rows * columns);
    share_range(rows, work, [&](std::ptrdiff_t i, std::ptrdiff_t last) {
        for (; i < last; ++i) {
            std::ptrdiff_t const row = table.are_known() ? table.used()[std::size_t(i)] : i,
                                 begin = first + row * columns, end = begin + columns;
            bool is_used = false;
            for (std::ptrdiff_t k = begin; k < end; ++k) {
                is_used |= !(all.gradients[k] == T(0));
            }
            if (is_used) {
                each_vector<takes_vectors<Rule, T>(each), T>(begin, end, update);
            }
        }
    });
}

// The gradients of optimize() for its rule, from i on.
template <bool Penalized, class V, class T>
V gradient_at(std::ptrdiff_t i, optimized<T> const& o) {
    V g;
    std::memcpy(&g, o.gradients + i, sizeof g);
    if constexpr (Penalized) {
        V p;
        std::memcpy(&p, o.parameters + i, sizeof p);
        return penalized_gradient(g, o.scale, p, o.l1, o.two_l2);
    } else {
        return g * o.scale;
    }
}

// The sum of their squares in double, in an order that depends on `count` only.
template <bool Penalized, class T>
double sum_of_squares(std::ptrdiff_t count, optimized<T> const& o) {
    constexpr std::ptrdiff_t width = 16; // independent sums, whatever the processor's vector width
    constexpr std::ptrdiff_t most_pieces = 64, least_piece = 4096;
    std::ptrdiff_t const piece = std::max(least_piece, (count + most_pieces - 1) / most_pieces);
    std::ptrdiff_t const pieces = (count + piece - 1) / piece;
    double sums[most_pieces];
    parallel_for(pieces, 4.0 * double(count), [=, to = &sums[0]](std::ptrdiff_t k) {
#ifndef __CUDACC__
        typedef T vector __attribute__((vector_size(vector_bytes)));
#else
        using vector = T;
#endif
        constexpr auto step = static_cast<std::ptrdiff_t>(sizeof(vector) / sizeof(T));
        std::ptrdiff_t i = k * piece;
        std::ptrdiff_t const end = std::min(i + piece, count);
        double parts[width]{};
        auto const add = [&](std::ptrdiff_t n, T gradient) {
            parts[n] += double(gradient) * double(gradient);
        };
        for (; i + width <= end; i += width) {
            T gradients[width];
            for (std::ptrdiff_t n = 0; n < width; n += step) {
                auto const g = gradient_at<Penalized, vector>(i + n, o);
                std::memcpy(gradients + n, &g, sizeof g);
            }
            for (std::ptrdiff_t n = 0; n < width; ++n) {
                add(n, gradients[n]);
            }
        }
        for (std::ptrdiff_t n = 0; n < end - i; ++n) {
            add(n, gradient_at<Penalized, T>(i + n, o));
        }
        to[k] = std::accumulate(parts, parts + width, 0.0);
    });
    return std::accumulate(sums, sums + pieces, 0.0);
}
template <class T>
[[gnu::noinline]] double sum_of_squares(penalty const& cost, T scale, T* parameters,
                                        T const* gradients, std::ptrdiff_t count) {
    optimized<T> const all{
        scale, static_cast<T>(cost.l1), static_cast<T>(2 * cost.l2), parameters, gradients, nullptr,
        0};
    return cost == penalty{} ? sum_of_squares<false>(count, all) : sum_of_squares<true>(count, all);
}

// Of a table's rows, which are known; `gradients` begin with the table.
template <class T>
[[gnu::noinline]] double sum_of_squares(T scale, T const* gradients, gradient_rows const& table) {
    double sum = 0;
    for (std::int32_t const row : table.used()) {
        T const* const gradient = gradients + row * table.columns();
        sum += sum_of_squares<T>(penalty{}, scale, nullptr, gradient, table.columns());
    }
    return sum;
}

} // namespace castnet::cpu::inline CASTNET_TARGET
