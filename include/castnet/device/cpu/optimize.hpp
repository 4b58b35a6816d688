// Optimizer update of all parameters in one pass, and the squared norm of their gradients.
#pragma once

#include <castnet/cpu/vector.hpp>
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

// Applies the rule to one V, a scalar or a vector, from parameter i on.
template <class V, class Rule, class T, std::size_t... S>
void optimize_at(std::ptrdiff_t i, Rule const& rule, optimized<T> const& o,
                 std::index_sequence<S...>) {
    auto const load = [](T const* from) {
        V v;
        std::memcpy(&v, from, sizeof v);
        return v;
    };
    auto const store = [](T* to, V const& v) { std::memcpy(to, &v, sizeof v); };
    V p = load(o.parameters + i);
    [[maybe_unused]] V slot[] = {load(o.slots + S * std::size_t(o.slot_stride) + i)..., V{}};
    V const g = penalized_gradient(load(o.gradients + i), o.scale, p, o.l1, o.two_l2);
    rule(p, g, slot[S]...);
    store(o.parameters + i, p);
    (..., store(o.slots + S * std::size_t(o.slot_stride) + i, slot[S]));
}

// Whether the rule accepts vectors.
template <class Rule, class V, std::size_t... S>
constexpr bool takes(std::index_sequence<S...>) {
    return requires(Rule const& rule, V p, V const g, V(&slot)[sizeof...(S) + 1]) {
        rule(p, g, slot[S]...);
    };
}

// Updates parameters[first, last): multiplies gradients with `scale` (1 / sum of weights), adds the
// penalty's gradient, and applies the optimizer's rule. Slots lie `slot_stride` apart.
template <int Slots, class Rule, class T>
void optimize(Rule const& rule, penalty const& cost, T scale, T* parameters, T const* gradients,
              T* slots, std::ptrdiff_t slot_stride, std::ptrdiff_t first, std::ptrdiff_t last) {
    constexpr auto each = std::make_index_sequence<std::size_t(Slots)>{};
    constexpr std::ptrdiff_t piece = 4096;
    std::ptrdiff_t const pieces = (last - first + piece - 1) / piece;
    optimized<T> const all{scale,
                           static_cast<T>(cost.l1),
                           static_cast<T>(2 * cost.l2),
                           parameters,
                           gradients,
                           slots,
                           slot_stride};
    parallel_for(pieces, 20.0 * double(last - first), [=](std::ptrdiff_t k) {
        std::ptrdiff_t i = first + k * piece;
        std::ptrdiff_t const end = i + piece < last ? i + piece : last;
#ifndef __CUDACC__ // nvcc does not support vector types as template arguments
        typedef T vector __attribute__((vector_size(vector_bytes)));
        constexpr std::ptrdiff_t width = simd<T>::width;
        if constexpr (takes<Rule, vector>(each)) {
            for (; i + width <= end; i += width) {
                optimize_at<vector>(i, rule, all, each);
            }
        }
#endif
        for (; i < end; ++i) {
            optimize_at<T>(i, rule, all, each);
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

} // namespace castnet::cpu::inline CASTNET_TARGET
