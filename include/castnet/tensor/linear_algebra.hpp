// Systems of linear equations: Cholesky's factor, solve by elimination with pivots or of triangular
// matrices, inverse and determinant. Computed at once, on the calling thread, in the type of the
// elements (double for integers).
#pragma once

#include <castnet/tensor/detail/factorize.hpp>
#include <castnet/tensor/detail/invert.hpp>
#include <castnet/tensor/matmul.hpp>
#include <castnet/tensor/order.hpp>
#include <castnet/tensor/triangles.hpp>

#include <cstddef>
#include <utility>

namespace castnet {

namespace detail {

template <class S>
constexpr bool ends_in_square() {
    return S::rank >= 2 && S::extent[S::rank - 1] == S::extent[S::rank < 2 ? 0 : S::rank - 2];
}
template <class S>
inline constexpr bool has_squares = ends_in_square<S>();

// Whether B has the axes of the matrices A but the last one, and at most one axis more.
template <class A, class B>
constexpr bool has_rows_of() {
    if (A::rank < 2 || B::rank + 1 < A::rank || B::rank > A::rank) {
        return false;
    }
    for (size_t axis = 0; axis + 1 < A::rank; ++axis) {
        if (A::extent[axis] != B::extent[axis]) {
            return false;
        }
    }
    return true;
}
template <class A, class B>
inline constexpr bool can_solve = has_rows_of<A, B>();

template <class SA, class SB>
constexpr void check_system() {
    static_assert(has_squares<SA>, "castnet: solve takes a square matrix");
    static_assert(can_solve<SA, SB>,
                  "castnet: solve needs a right side with as many rows as the matrix, and with its "
                  "batches");
}

template <class... X>
using real_value = number_of<fn::sqrt, common_value_t<X...>>;

// x with matmul(a, x) = b of batches of triangular matrices a.
template <bool Lower, class A, class B>
auto solve_triangular(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    using T = real_value<A, B>;
    check_system<SA, SB>();
    check_device<device::cpu, typename A::device_type>();
    constexpr size_t n = SA::extent[SA::rank - 1], batch = SA::count / (n * n);
    constexpr size_t columns = SB::count / (n * batch);
    auto const triangles = factor<T, factor_order::rows>(a);
    tensor<T, SB> x = b;
    for (size_t i = 0; i != batch; ++i) {
        solve_triangular_in_place<n, columns, Lower>(triangles.data() + i * n * n,
                                                     x.data() + i * n * columns);
    }
    return x;
}

} // namespace detail

// The lower triangular L with matmul(L, transpose(L)) = a, as numpy.linalg.cholesky; only the lower
// triangle of a is read. Axes before the last two are batches. Throws castnet::error unless a is
// positive definite.
template <TensorExpression A>
auto cholesky(A const& a) {
    using S = typename A::shape_type;
    using T = detail::real_value<A>;
    static_assert(detail::has_squares<S>, "castnet: cholesky takes a square matrix");
    constexpr size_t n = S::extent[S::rank - 1];
    tensor<T, S> factor = a;
    detail::factorize_all_definite<n>(S::count / (n * n), factor.data());
    detail::clear_triangles<true>(factor, 1);
    return factor;
}

// x with matmul(a, x) = b, for a vector b or the columns of a matrix, as numpy.linalg.solve; with a
// batch of matrices a, for a batch of vectors (their axes and one more) or of matrices. Throws
// castnet::error if a matrix is singular.
template <TensorExpression A, TensorExpression B>
auto solve(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    using T = detail::real_value<A, B>;
    detail::check_system<SA, SB>();
    constexpr size_t n = SA::extent[SA::rank - 1], batch = SA::count / (n * n);
    constexpr size_t columns = SB::count / (n * batch);
    tensor<T, SA> left = a;
    tensor<T, SB> x = b;
    detail::solve_all<n, columns>(batch, left.data(), x.data());
    return x;
}

// The same for a lower triangular matrix, such as cholesky's, or an upper one, as
// scipy.linalg.solve_triangular and torch.linalg.solve_triangular: the other triangle is not read.
// Throws castnet::error if there is a 0 on its diagonal.
template <TensorExpression A, TensorExpression B>
auto solve_lower_triangular(A const& a, B const& b) {
    return detail::solve_triangular<true>(a, b);
}
template <TensorExpression A, TensorExpression B>
auto solve_upper_triangular(A const& a, B const& b) {
    return detail::solve_triangular<false>(a, b);
}

// x with matmul(a, x) = b for a positive definite matrix whose factor = cholesky(a) is known, as
// torch.cholesky_solve(b, factor) and scipy.linalg.cho_solve: several times as fast as solve(a, b).
template <TensorExpression Factor, TensorExpression B>
auto cholesky_solve(Factor const& factor, B const& b) {
    using S = typename Factor::shape_type;
    auto const lower = detail::kept_values(factor);
    auto const half = solve_lower_triangular(lower, b);
    return solve_upper_triangular(detail::with_axis_last<S::rank - 2>(detail::view_of(lower)),
                                  half);
}

// The matrix with matmul(a, inverse(a)) = 1, as numpy.linalg.inv; axes before the last two are
// batches. To solve equations, solve is faster and more exact. Throws castnet::error if a matrix is
// singular.
template <TensorExpression A>
CASTNET_ALWAYS_INLINE auto inverse(A const& a) {
    using S = typename A::shape_type;
    using T = detail::real_value<A>;
    static_assert(detail::has_squares<S>, "castnet: inverse takes a square matrix");
    constexpr size_t n = S::extent[S::rank - 1], batch = S::count / (n * n);
    if constexpr (detail::has_cofactors<T, n>) {
        auto const matrices = detail::factor<T, detail::factor_order::rows>(a);
        auto inverses = tensor<T, S>::empty();
        if constexpr (batch == 1) {
            detail::invert<n>(matrices.data(), inverses.data());
        } else {
            detail::invert_all<n>(batch, matrices.data(), inverses.data());
        }
        return inverses;
    } else {
        tensor<T, S> units;
        for (size_t i = 0; i != S::count / n; ++i) { // rows
            units.data()[i * n + i % n] = 1;
        }
        return solve(a, units);
    }
}

// The determinant of a matrix, as numpy.linalg.det: a number; of batches of matrices, in the last
// two axes, a tensor of the axes before these.
template <TensorExpression A>
CASTNET_ALWAYS_INLINE auto determinant(A const& a) {
    using S = typename A::shape_type;
    using T = detail::real_value<A>;
    static_assert(detail::has_squares<S>, "castnet: determinant takes a square matrix");
    constexpr size_t n = S::extent[S::rank - 1];
    auto const matrices = detail::factor<T, detail::factor_order::rows>(a);
    if constexpr (S::rank == 2) {
        return detail::determinant_of<n>(matrices.data());
    } else {
        using batch = decltype(detail::leading<S>(std::make_index_sequence<S::rank - 2>{}));
        auto determinants = tensor<T, batch>::empty();
        detail::determinants_of<n>(batch::count, matrices.data(), determinants.data());
        return determinants;
    }
}

} // namespace castnet
