// Systems of linear equations on a GPU: a block factorizes a matrix, a thread solves for a column
// of a right side.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/elimination.hpp>
#include <castnet/graph/op/linear_algebra.hpp>

#include <cstddef>

namespace castnet::cuda {

// Copies each matrix (n x n) into rows of `width` elements and factorizes it there.
template <op K, class T>
struct factorize_body {
    stored<T> from;
    T* to;
    std::ptrdiff_t n, matrices;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        constexpr bool definite = K == op::cholesky;
        std::ptrdiff_t const width = definite ? n : n + 1;
        for (std::ptrdiff_t i = block.index(); i < matrices; i += block.blocks()) {
            T* const factors = to + i * n * width;
            for_each_in_block(block, n * n, [&](std::ptrdiff_t k) {
                factors[k / n * width + k % n] = from.get(i * n * n + k);
            });
            block.sync();
            if constexpr (definite) {
                factorize_definite(block, factors, n);
            } else {
                factorize_by_elimination(block, factors, n);
            }
        }
    }
};

CASTNET_CALLS_UNCHECKED
template <op K, class Context>
CASTNET_HD void factorize(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const& from = t.arrays[s.first_array];
    std::ptrdiff_t const matrices = c.samples * matrices_in(from.size);
    // (Shared memory, if not used, says that threads wait for each other.)
    c.launch({static_cast<unsigned>(matrices), block_threads, sizeof(T)},
             factorize_body<K, T>{stored_at(c, from), c.at(t.arrays[s.output]), from.size.channels,
                                  matrices});
}

// Columns of right sides, `columns` for each matrix (n x n), and where their solutions go.
template <class T>
struct right_columns {
    stored<T> from;
    T* to;
    std::ptrdiff_t n, columns, count;

    // Calls f(i, x) for each, a column of matrix i's that lies at x, to be solved for.
    template <class Block, class F>
    CASTNET_HD void for_each(Block const& block, F const& f) const {
        for_each_index(block, count, [&](std::ptrdiff_t column) {
            std::ptrdiff_t const i = column / columns, first = i * n * columns + column % columns;
            for (std::ptrdiff_t k = 0; k < n; ++k) {
                to[first + k * columns] = from.get(first + k * columns);
            }
            f(i, to + first);
        });
    }
};
template <class Context>
CASTNET_HD auto right_columns_of(kernel_launch const& s, tables const& t, Context const& c) {
    array_ref const &matrices = t.arrays[s.first_array], &to = t.arrays[s.output];
    std::ptrdiff_t const columns = to.size.channels;
    return right_columns<typename Context::value_type>{
        stored_at(c, t.arrays[s.first_array + 1]), c.at(to), matrices.size.channels, columns,
        c.samples * matrices_in(matrices.size) * columns};
}

template <class T>
struct solve_triangular_body {
    right_columns<T> right;
    stored<T> matrices;
    bool lower, transposed;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        right.for_each(block, [&](std::ptrdiff_t i, T* x) {
            std::ptrdiff_t const n = right.n;
            auto const at = [&](std::ptrdiff_t row, std::ptrdiff_t column) {
                return matrices.get(i * n * n + (transposed ? column * n + row : row * n + column));
            };
            solve_triangle(n, lower != transposed, false, at, x, right.columns, 1);
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void solve_triangular(kernel_launch const& s, tables const& t, Context const& c) {
    auto const right = right_columns_of(s, t, c);
    triangle_form const form = triangle_form::unpacked(s.attribute);
    c.launch(grid_for(right.count),
             solve_triangular_body<typename Context::value_type>{
                 right, stored_at(c, t.arrays[s.first_array]), form.lower, form.transposed});
}

template <class T>
struct solve_body {
    right_columns<T> right;
    T const* factors;
    bool transposed;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        right.for_each(block, [&](std::ptrdiff_t i, T* x) {
            std::ptrdiff_t const n = right.n;
            solve_by_factors(n, transposed, factors + i * n * (n + 1), x, right.columns, 1);
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void solve(kernel_launch const& s, tables const& t, Context const& c) {
    auto const right = right_columns_of(s, t, c);
    c.launch(grid_for(right.count),
             solve_body<typename Context::value_type>{right, c.at(t.arrays[s.first_array + 2]),
                                                      s.attribute != 0});
}

template <class T>
struct determinant_body {
    T const* factors;
    T* to;
    std::ptrdiff_t n, count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            to[i] = determinant_by_factors(n, factors + i * n * (n + 1));
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void determinant(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const& from = t.arrays[s.first_array];
    std::ptrdiff_t const count = c.samples * matrices_in(from.size);
    c.launch(grid_for(count),
             determinant_body<T>{c.at(t.arrays[s.first_array + 1]), c.at(t.arrays[s.output]),
                                 from.size.channels, count});
}

template <class Context>
struct kernel_for<Context, op::cholesky>
    : function_kernel<Context, &factorize<op::cholesky, Context>> {};
template <class Context>
struct kernel_for<Context, op::triangular_factors>
    : function_kernel<Context, &factorize<op::triangular_factors, Context>> {};
template <class Context>
struct kernel_for<Context, op::solve_triangular>
    : function_kernel<Context, &solve_triangular<Context>> {};
template <class Context>
struct kernel_for<Context, op::solve> : function_kernel<Context, &solve<Context>> {};
template <class Context>
struct kernel_for<Context, op::determinant> : function_kernel<Context, &determinant<Context>> {};

} // namespace castnet::cuda
