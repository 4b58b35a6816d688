// Outer, Kronecker and vector products, diagonals, triangles and traces, and small systems of
// linear equations: Cholesky's factor, solve by elimination with pivots or of triangular matrices,
// inverse and determinant.
// Computed at once, on the calling thread, in the type of the elements (double for integers).
#pragma once

#include <castnet/tensor/detail/factorize.hpp>
#include <castnet/tensor/detail/invert.hpp>
#include <castnet/tensor/join.hpp>
#include <castnet/tensor/matmul.hpp>
#include <castnet/tensor/order.hpp>
#include <castnet/tensor/statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
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

template <class S>
inline constexpr bool has_points = S::rank > 0 && S::extent[S::rank > 0 ? S::rank - 1 : 0] == 3;

// A tensor with axes 0 and 1 as one, 2 and 3 as one, ….
template <class X>
auto joined_by_twos(X&& x) {
    using S = typename std::remove_cvref_t<X>::shape_type;
    return [&]<size_t... Axis>(std::index_sequence<Axis...>) {
        return std::forward<X>(x)
            .template as<shape<(S::extent[2 * Axis] * S::extent[2 * Axis + 1])...>>();
    }(std::make_index_sequence<S::rank / 2>{});
}

// The elements of x in row-major order, broadcast to a shape.
template <class T, class S, class X>
auto repeated_as(X const& x) {
    if constexpr (std::is_same_v<typename X::shape_type, S>) {
        return factor<T, factor_order::rows>(x);
    } else {
        auto repeated = tensor<T, S>::empty();
        repeated = x;
        return repeated;
    }
}

// The vector products of Count / 3 vectors each.
template <size_t Count, class T>
void multiply_points(T const* __restrict a, T const* __restrict b, T* __restrict to) {
    for (size_t i = 0; i != Count; i += 3) {
        to[i] = a[i + 1] * b[i + 2] - a[i + 2] * b[i + 1];
        to[i + 1] = a[i + 2] * b[i] - a[i] * b[i + 2];
        to[i + 2] = a[i] * b[i + 1] - a[i + 1] * b[i];
    }
}

template <class X>
constexpr void check_triangles() {
    static_assert(X::shape_type::rank >= 2,
                  "castnet: triangles are of matrices, or batches of them");
}

// Where the elements of a matrix lie from its main diagonal, to the right, (rows, columns).
template <class X>
auto distances_from_diagonal() {
    using S = typename X::shape_type;
    constexpr size_t rows = S::extent[S::rank - 2], columns = S::extent[S::rank - 1];
    auto const row = tensor<int, shape<rows, 1>>::arange();
    auto const distances = evaluate(tensor<int, shape<columns>>::arange() - row);
    if constexpr (is_host<typename X::device_type>) {
        return distances;
    } else {
        return to<typename X::device_type>(distances);
    }
}

// How many elements of row i of a matrix lie left of a diagonal that is `right` columns to the
// right of the main one.
template <size_t Columns>
constexpr size_t left_of_diagonal(size_t i, std::ptrdiff_t right) {
    constexpr std::ptrdiff_t all{Columns};
    return static_cast<size_t>(
        std::clamp(static_cast<std::ptrdiff_t>(i) + right, std::ptrdiff_t{0}, all));
}

// Sets the elements of matrices that lie on and right of such a diagonal, or left of it, to 0.
template <bool OnRight, class T, class S>
void clear_triangles(tensor<T, S>& matrices, std::ptrdiff_t right) {
    constexpr size_t rows = S::extent[S::rank - 2], columns = S::extent[S::rank - 1];
    T* row = matrices.data();
    for (size_t i = 0; i != S::count / columns; ++i, row += columns) {
        T* const diagonal = row + left_of_diagonal<columns>(i % rows, right);
        std::fill(OnRight ? diagonal : row, OnRight ? row + columns : diagonal, T(0));
    }
}

// Whether that takes longer than a choice between each number and 0: of few, and on a GPU.
template <class X>
inline constexpr bool chooses_triangles =
    !is_host<typename X::device_type> || X::shape_type::count <= 64;

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

// The products of all elements of one vector with all of another, (m, n).
template <TensorExpression A, TensorExpression B>
auto outer(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    static_assert(SA::rank == 1 && SB::rank == 1, "castnet: outer takes two vectors");
    auto const left = evaluate(a);
    return evaluate(expand_dims<1>(left) * b);
}

// The products of all elements of one tensor with all of another, block by block, as numpy.kron:
// the Kronecker product of two matrices, or of two tensors of the same rank.
template <TensorExpression A, TensorExpression B>
auto kron(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    constexpr bool fits = SA::rank == SB::rank && SA::rank > 0;
    static_assert(fits, "castnet: kron takes two tensors of the same number of axes, such as "
                        "matrices");
    auto const blocks = evaluate(a);
    if constexpr (!fits) {
        return blocks; // after the complaint
    } else {
        auto const block = evaluate(b);
        return [&]<size_t... Axis>(std::index_sequence<Axis...>) {
            // (a0, 1, a1, 1, ...) times (1, b0, 1, b1, ...)
            auto const left = reshape<(Axis % 2 == 0 ? SA::extent[Axis / 2] : 1)...>(blocks);
            auto const right = reshape<(Axis % 2 == 0 ? 1 : SB::extent[Axis / 2])...>(block);
            return detail::joined_by_twos(evaluate(left * right));
        }(std::make_index_sequence<2 * SA::rank>{});
    }
}

// The vector products of vectors of three elements along the last axis, as numpy.cross; the axes
// before it broadcast.
template <TensorExpression A, TensorExpression B>
auto cross(A const& a, B const& b) {
    static_assert(detail::has_points<typename A::shape_type> &&
                      detail::has_points<typename B::shape_type>,
                  "castnet: cross takes vectors of three elements along the last axis");
    using S = broadcast_t<typename A::shape_type, typename B::shape_type>;
    using T = number_of<fn::subtract, detail::common_value_t<A, B>>;
    if constexpr (detail::is_host<typename A::device_type>) {
        auto const left = detail::repeated_as<T, S>(a);
        auto const right = detail::repeated_as<T, S>(b);
        auto products = tensor<T, S>::empty();
        detail::multiply_points<S::count>(left.data(), right.data(), products.data());
        return products;
    } else {
        auto const left = detail::kept_values(a);
        auto const right = detail::kept_values(b);
        auto const product = [&](size_t i, size_t j) {
            constexpr size_t along_a = A::shape_type::rank - 1, along_b = B::shape_type::rank - 1;
            return evaluate(select<along_a>(left, i) * select<along_b>(right, j) -
                            select<along_a>(left, j) * select<along_b>(right, i));
        };
        return stack<S::rank - 1>(product(1, 2), product(2, 0), product(0, 1));
    }
}

// The square matrix with a vector on its main diagonal and 0 elsewhere, as numpy.diag of a vector;
// that of a matrix is diagonal(x).
template <TensorExpression X>
auto diag(X const& x) {
    using S = typename X::shape_type;
    static_assert(detail::is_vector<S>,
                  "castnet: diag takes a vector; the diagonal of a matrix is diagonal(x)");
    tensor<typename X::value_type, shape<S::count, S::count>, typename X::device_type> matrix;
    diagonal(matrix) = x;
    return matrix;
}

// The sum of the main diagonal of a matrix, as numpy.trace; of integers 64 bits wide.
template <TensorExpression X>
auto trace(X const& x) {
    auto const values = detail::kept_values(x);
    return sum(diagonal(values));
}

// The elements on and below the main diagonal of each matrix, or on and below the diagonal that is
// so many columns to the right of it, and 0 elsewhere, as numpy.tril; axes before the last two are
// batches.
template <int Right = 0, TensorExpression X>
auto tril(X const& x) {
    detail::check_triangles<X>();
    using triangles =
        tensor<typename X::value_type, typename X::shape_type, typename X::device_type>;
    if constexpr (detail::chooses_triangles<X>) {
        return triangles(where(detail::distances_from_diagonal<X>() <= Right, x, 0));
    } else {
        triangles lower(x);
        detail::clear_triangles<true>(lower, std::ptrdiff_t{Right} + 1);
        return lower;
    }
}
// The same on and above, as numpy.triu.
template <int Right = 0, TensorExpression X>
auto triu(X const& x) {
    detail::check_triangles<X>();
    using triangles =
        tensor<typename X::value_type, typename X::shape_type, typename X::device_type>;
    if constexpr (detail::chooses_triangles<X>) {
        return triangles(where(detail::distances_from_diagonal<X>() >= Right, x, 0));
    } else {
        triangles upper(x);
        detail::clear_triangles<false>(upper, Right);
        return upper;
    }
}

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
