// The update of all parameters in one pass.
#pragma once

#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/cpu/vector.hpp>
#include <castnet/graph/parameter.hpp>

#include <cstddef>
#include <cstring>
#include <utility>

namespace castnet::cpu {

// What a rule of the optimizer works on: parameters, their gradients and slots, which lie
// `slot_stride` apart.
template <class T>
struct optimized {
    T scale, l1, l2;
    T* parameters;
    T const* gradients;
    T* slots;
    std::ptrdiff_t slot_stride;
};

// Applies the rule to one V of numbers, a single one or a vector, from parameter i on.
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
    V const zero{};
    V const sign = p > zero ? zero + o.l1 : p < zero ? zero - o.l1 : zero;
    V const g = load(o.gradients + i) * o.scale + o.l2 * p + sign;
    rule(p, g, slot[S]...);
    store(o.parameters + i, p);
    (..., store(o.slots + S * std::size_t(o.slot_stride) + i, slot[S]));
}

// Whether the rule works on vectors, too.
template <class Rule, class V, std::size_t... S>
constexpr bool takes(std::index_sequence<S...>) {
    return requires(Rule const& rule, V p, V const g, V(&slot)[sizeof...(S) + 1]) {
        rule(p, g, slot[S]...);
    };
}

// parameters[first, last): gradients are divided by the sum of weights (times `scale`), the
// penalty's gradient is added, and the optimizer's rule applied. Slots lie `slot_stride` apart.
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
#ifndef __CUDACC__ // nvcc knows no vectors as template arguments
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

} // namespace castnet::cpu
