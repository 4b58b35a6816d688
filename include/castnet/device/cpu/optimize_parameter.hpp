// Optimizer update of one parameter by a rule that depends on all of its elements.
#pragma once

#include <castnet/device/cpu/matmul.hpp>
#include <castnet/device/cpu/optimize.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/optim/optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

// A weight as it lies in memory, row by row: what else it has by outputs. Other parameters have no
// columns.
struct weight_matrix {
    std::ptrdiff_t rows = 0, columns = 0;

    constexpr std::ptrdiff_t count() const { return rows * columns; }
    constexpr std::ptrdiff_t smaller() const { return std::min(rows, columns); }
};
constexpr weight_matrix matrix_of(parameter const& p) {
    std::ptrdiff_t const outputs = is_weight(p.kind) ? p.shape.extent[0] : 0;
    return {outputs > 0 ? p.count() / outputs : 0, outputs};
}

// Elements of memory that the update of a parameter needs: its direction and, where that is made
// orthogonal, the next one, and two square matrices.
template <class Rule>
constexpr std::ptrdiff_t update_scratch(parameter const& p) {
    weight_matrix const w = matrix_of(p);
    return p.count() + (Orthogonalizes<Rule> ? w.count() + 2 * w.smaller() * w.smaller() : 0);
}

template <class T>
double norm_of(T* values, std::ptrdiff_t count) {
    return std::sqrt(sum_of_squares(penalty{}, T(1), values, values, count));
}

// See orthogonalization; `scratch` lies after x.
template <class T>
void orthogonalize(orthogonalization const& how, weight_matrix const& size, T* x, T* scratch) {
    std::ptrdiff_t const n = size.smaller(), count = size.count(), columns = size.columns;
    T *const next = scratch, *const gram = scratch + count, *const factor = gram + n * n;
    // to[i] = a * from[i] + b * to[i]
    auto const mix = [](std::ptrdiff_t numbers, T a, T const* from, T b, T* to) {
        for_each_vector<true, T>(0, numbers, [=]<class V>(std::ptrdiff_t i) {
            put_numbers(to + i, a * numbers_at<V>(from + i) + b * numbers_at<V>(to + i));
        });
    };
    if (how.steps > 0) {
        mix(count, T(0), x, T(1 / std::max(norm_of(x, count), how.epsilon)), x);
    }
    matrix<T> const as_it_lies{x, columns, 1}, turned{x, 1, columns};
    for (int step = 0; step < how.steps; ++step) {
        if (size.rows < columns) {
            multiply<T>(n, n, columns, as_it_lies, turned, gram, n);
        } else {
            multiply<T>(n, n, size.rows, turned, as_it_lies, gram, n);
        }
        multiply<T>(n, n, n, {gram, n, 1}, {gram, n, 1}, factor, n);
        mix(n * n, T(how.cubic), gram, T(how.quintic), factor);
        if (size.rows < columns) {
            multiply<T>(n, columns, n, {factor, n, 1}, as_it_lies, next, columns);
        } else {
            multiply<T>(size.rows, n, n, as_it_lies, {factor, n, 1}, next, columns);
        }
        mix(count, T(1), next, T(how.linear), x);
    }
}

// Gives each number of the parameter p its direction, and then moves it.
template <int Slots, class Rule, class T>
void move_parameter(Rule rule, parameter const& p, optimized<T> const& all, T* memory) {
    constexpr auto each = std::make_index_sequence<std::size_t(Slots)>{};
    std::ptrdiff_t const count = p.count();
    weight_matrix const size = matrix_of(p);
    if constexpr (requires { rule.begin(size.columns, size.rows); }) {
        rule.begin(size.columns, size.rows);
    }
    for_each_vector<true, T>(0, count, [=]<class V>(std::ptrdiff_t i) {
        change_at<V>(i, all, each, [&](V& x, auto&... slot) {
            V const g = penalized_gradient(numbers_at<V>(all.gradients + i), all.scale, x, all.l1,
                                           all.two_l2);
            put_numbers(memory + i, rule.direction(x, g, slot...));
        });
    });
    if constexpr (requires { rule.between(); }) {
        orthogonalize(rule.between(), size, memory, memory + count);
    }
    if constexpr (requires { rule.set_norms(1.0, 1.0); }) {
        rule.set_norms(norm_of(all.parameters, count), norm_of(memory, count));
    }
    for_each_vector<true, T>(0, count, [=]<class V>(std::ptrdiff_t i) {
        change_at<V>(i, all, each, [&](V& x, auto&... slot) {
            rule.move(x, numbers_at<V>(memory + i), slot...);
        });
    });
}

// Updates the parameter p, at whose begin the operands are, with update_scratch(p) elements of
// memory.
template <int Slots, class Rule, class T>
void optimize_parameter(Rule rule, parameter const& p, optimized<T> const& all, T* memory) {
    if constexpr (requires { rule.set_gradient_norm(1.0); }) {
        rule.set_gradient_norm(
            std::sqrt(sum_of_squares(p.cost, all.scale, all.parameters, all.gradients, p.count())));
    }
    if constexpr (castnet::detail::has_direction<Rule, T, Slots>) {
        move_parameter<Slots>(rule, p, all, memory);
    } else {
        optimize<Slots>(rule, p.cost, all.scale, all.parameters, all.gradients, all.slots,
                        all.slot_stride, 0, p.count());
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
