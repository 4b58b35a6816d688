// Systems of linear equations: threads share the matrices.
#pragma once

#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/elimination.hpp>
#include <castnet/graph/op/linear_algebra.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// Calls f(i) for each matrix of these arrays.
template <class T, class F>
void for_each_matrix(kernel_launch const& s, array_ref const& matrices, context<T> const& c,
                     F const& f) {
    parallel_for(c.samples * matrices_in(matrices.size), double(c.samples * s.flops), f);
}

template <class T>
void cholesky(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const& from = t.arrays[s.first_array];
    std::ptrdiff_t const n = from.size.channels;
    T const* const a = c.at(from);
    T* const to = c.at(t.arrays[s.output]);
    for_each_matrix(s, from, c, [=](std::ptrdiff_t i) {
        T* const factor = std::copy_n(a + i * n * n, n * n, to + i * n * n) - n * n;
        factorize_definite(lone_thread{}, factor, n);
    });
}

template <class T>
void triangular_factors(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const& from = t.arrays[s.first_array];
    std::ptrdiff_t const n = from.size.channels;
    T const* const a = c.at(from);
    T* const to = c.at(t.arrays[s.output]);
    for_each_matrix(s, from, c, [=](std::ptrdiff_t i) {
        T* const factors = to + i * n * (n + 1);
        for (std::ptrdiff_t row = 0; row < n; ++row) {
            std::copy_n(a + (i * n + row) * n, n, factors + row * (n + 1));
        }
        factorize_by_elimination(lone_thread{}, factors, n);
    });
}

// Calls f(i, x, columns) for each matrix, where x has its right side's columns, to be solved for.
template <class T, class F>
void solve_each(kernel_launch const& s, tables const& t, context<T> const& c, F const& f) {
    array_ref const &matrices = t.arrays[s.first_array], &to = t.arrays[s.output];
    std::ptrdiff_t const columns = to.size.channels, count = matrices.size.channels * columns;
    T const* const right = c.at(t.arrays[s.first_array + 1]);
    T* const solutions = c.at(to);
    for_each_matrix(s, matrices, c, [=, &f](std::ptrdiff_t i) {
        T* const x = solutions + i * count;
        std::copy_n(right + i * count, count, x);
        f(i, x, columns);
    });
}

template <class T>
void solve_triangular(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const& from = t.arrays[s.first_array];
    triangle_form const form = triangle_form::unpacked(s.attribute);
    std::ptrdiff_t const n = from.size.channels;
    T const* const matrices = c.at(from);
    solve_each(s, t, c, [=](std::ptrdiff_t i, T* x, std::ptrdiff_t columns) {
        T const* const a = matrices + i * n * n;
        auto const at = [=](std::ptrdiff_t row, std::ptrdiff_t column) {
            return form.transposed ? a[column * n + row] : a[row * n + column];
        };
        solve_triangle(n, form.lower != form.transposed, false, at, x, columns, columns);
    });
}

template <class T>
void solve(kernel_launch const& s, tables const& t, context<T> const& c) {
    std::ptrdiff_t const n = t.arrays[s.first_array].size.channels;
    T const* const factors = c.at(t.arrays[s.first_array + 2]);
    bool const transposed = s.attribute != 0;
    solve_each(s, t, c, [=](std::ptrdiff_t i, T* x, std::ptrdiff_t columns) {
        solve_by_factors(n, transposed, factors + i * n * (n + 1), x, columns, columns);
    });
}

template <class T>
void determinant(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const& from = t.arrays[s.first_array];
    std::ptrdiff_t const n = from.size.channels;
    T const* const factors = c.at(t.arrays[s.first_array + 1]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_matrix(s, from, c, [=](std::ptrdiff_t i) {
        to[i] = determinant_by_factors(n, factors + i * n * (n + 1));
    });
}

template <class T>
struct kernel_for<T, op::cholesky> : function_kernel<T, &cholesky<T>> {};
template <class T>
struct kernel_for<T, op::triangular_factors> : function_kernel<T, &triangular_factors<T>> {};
template <class T>
struct kernel_for<T, op::solve_triangular> : function_kernel<T, &solve_triangular<T>> {};
template <class T>
struct kernel_for<T, op::solve> : function_kernel<T, &solve<T>> {};
template <class T>
struct kernel_for<T, op::determinant> : function_kernel<T, &determinant<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
