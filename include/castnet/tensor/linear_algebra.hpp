// Outer products, and small systems of linear equations: Cholesky's factor, and solve by
// elimination with pivots. Computed at once, on the calling thread, in the type of the elements
// (double for integers).
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/tensor/matmul.hpp>

#include <cmath>
#include <utility>

namespace castnet {

namespace detail {

template <class S>
inline constexpr bool is_square = S::rank == 2 && S::extent[0] == S::extent[S::rank - 1];
template <class A, class B>
inline constexpr bool can_solve = B::rank >= 1 && B::rank <= 2 && A::extent[0] == B::extent[0];

template <class... X>
using real_value = number_of<fn::sqrt, common_value_t<X...>>;

} // namespace detail

// The products of all elements of one vector with all of another, (m, n).
template <TensorExpression A, TensorExpression B>
auto outer(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    static_assert(SA::rank == 1 && SB::rank == 1, "castnet: outer takes two vectors");
    auto const left = evaluate(a);
    return evaluate(expand_dims<1>(left) * b);
}

// The lower triangular L with matmul(L, transpose(L)) = a, as numpy.linalg.cholesky; only the lower
// triangle of a is read. Throws castnet::error unless a is positive definite.
template <TensorExpression A>
auto cholesky(A const& a) {
    using S = typename A::shape_type;
    using T = detail::real_value<A>;
    static_assert(detail::is_square<S>, "castnet: cholesky takes a square matrix");
    constexpr size_t n = S::extent[0];
    tensor<T, shape<n, n>> factor;
    factor = a;
    for (size_t j = 0; j < n; ++j) {
        for (size_t i = j; i < n; ++i) {
            T rest = factor(i, j);
            for (size_t k = 0; k < j; ++k) {
                rest -= factor(i, k) * factor(j, k);
            }
            if (i > j) {
                factor(i, j) = rest / factor(j, j);
            } else if (rest > T(0)) {
                factor(j, j) = std::sqrt(rest);
            } else {
                throw error({"castnet: cholesky: the matrix is not positive definite: pivot ", j,
                             " is ", static_cast<double>(rest)});
            }
        }
        for (size_t k = j + 1; k < n; ++k) {
            factor(j, k) = T(0);
        }
    }
    return factor;
}

// x with matmul(a, x) = b, for a vector b or the columns of a matrix, as numpy.linalg.solve. Throws
// castnet::error if a is singular.
template <TensorExpression A, TensorExpression B>
auto solve(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    using T = detail::real_value<A, B>;
    static_assert(detail::is_square<SA>, "castnet: solve takes a square matrix");
    static_assert(detail::can_solve<SA, SB>,
                  "castnet: solve needs a right side with as many rows as the matrix");
    constexpr size_t n = SA::extent[0], columns = SB::count / n;
    tensor<T, shape<n, n>> left;
    left = a;
    tensor<T, SB> x;
    x = b;
    auto const row = reshape<n, columns>(x);
    for (size_t k = 0; k < n; ++k) {
        size_t pivot = k;
        for (size_t i = k + 1; i < n; ++i) {
            pivot = std::abs(left(i, k)) > std::abs(left(pivot, k)) ? i : pivot;
        }
        if (!(std::abs(left(pivot, k)) > T(0))) {
            throw error({"castnet: solve: the matrix is singular: column ", k,
                         " depends on those before it"});
        }
        for (size_t j = 0; pivot != k && j < n; ++j) {
            std::swap(left(k, j), left(pivot, j));
        }
        for (size_t j = 0; pivot != k && j < columns; ++j) {
            std::swap(row(k, j), row(pivot, j));
        }
        for (size_t i = k + 1; i < n; ++i) {
            T const factor = left(i, k) / left(k, k);
            for (size_t j = k + 1; j < n; ++j) {
                left(i, j) -= factor * left(k, j);
            }
            for (size_t j = 0; j < columns; ++j) {
                row(i, j) -= factor * row(k, j);
            }
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = 0; j < columns; ++j) {
            for (size_t i = k + 1; i < n; ++i) {
                row(k, j) -= left(k, i) * row(i, j);
            }
            row(k, j) /= left(k, k);
        }
    }
    return x;
}

} // namespace castnet
