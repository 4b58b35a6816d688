// Decompositions of matrices, qr, eigh and svd, and least squares solutions, lstsq. Axes before the
// last two are batches. Computed at once, on the calling thread, in the type of the elements
// (double for integers).
#pragma once

#include <castnet/tensor/broadcast.hpp>
#include <castnet/tensor/detail/householder.hpp>
#include <castnet/tensor/detail/singular_values.hpp>
#include <castnet/tensor/detail/symmetric_eigenvalues.hpp>
#include <castnet/tensor/linear_algebra.hpp>
#include <castnet/tensor/matmul.hpp>
#include <castnet/tensor/order.hpp>
#include <castnet/tensor/owning_tensor.hpp>
#include <castnet/tensor/views.hpp>

#include <algorithm>
#include <utility>

namespace castnet {

namespace detail {

// The extents of a matrix, and those of its batches before others.
template <class S>
struct matrices_of {
    static constexpr bool found = S::rank >= 2;
    static constexpr size_t rows = S::extent[found ? S::rank - 2 : 0];
    static constexpr size_t columns = S::extent[found ? S::rank - 1 : 0];
    static constexpr size_t few = std::min(rows, columns);
    static constexpr size_t batch = S::count / (found ? rows * columns : S::count);

    template <size_t... Last>
    using shape_with =
        decltype(leading<S, Last...>(std::make_index_sequence<found ? S::rank - 2 : 0>{}));
};

template <class A, class B>
inline constexpr bool has_tall_matrices =
    can_solve<A, B> && matrices_of<A>::rows >= matrices_of<A>::columns;

} // namespace detail

template <class Q, class R>
struct qr_factors {
    Q q; // (rows, k), columns of length 1 at right angles to each other; k = min(rows, columns)
    R r; // (k, columns), upper triangular
};

// The factors of a matrix, matmul(q, r) = a, as numpy.linalg.qr: auto [q, r] = qr(a). Throws
// castnet::error if a number is not finite.
template <TensorExpression A>
auto qr(A const& a) {
    using of = detail::matrices_of<typename A::shape_type>;
    using T = detail::real_value<A>;
    static_assert(of::found, "castnet: qr takes a matrix, or batches of them");
    using q_type = tensor<T, typename of::template shape_with<of::rows, of::few>>;
    using r_type = tensor<T, typename of::template shape_with<of::few, of::columns>>;
    tensor<T, typename A::shape_type> numbers = a;
    qr_factors<q_type, r_type> factors{q_type::empty(), r_type::empty()};
    for (size_t i = 0; i < of::batch; ++i) {
        detail::factorize_orthogonal<of::rows, of::columns>(
            numbers.data() + i * of::rows * of::columns, factors.q.data() + i * of::rows * of::few,
            factors.r.data() + i * of::few * of::columns);
    }
    return factors;
}

// The x for which the squares of matmul(a, x) - b have the least sum, for a vector b or the columns
// of a matrix, as the first result of numpy.linalg.lstsq; a has at least as many rows as columns.
// With a batch of matrices a, for a batch of vectors or of matrices. Throws castnet::error if the
// columns of a matrix depend on each other, so that other x are as good, or if it has a number that
// is not finite.
template <TensorExpression A, TensorExpression B>
auto lstsq(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    using of = detail::matrices_of<SA>;
    using T = detail::real_value<A, B>;
    static_assert(
        detail::has_tall_matrices<SA, SB>,
        "castnet: lstsq needs a matrix with at least as many rows as columns, and a right "
        "side with as many rows, and with its batches");
    constexpr size_t right = std::max<size_t>(SB::count / (of::rows * of::batch), 1);
    using x_shape = std::conditional_t<SB::rank == SA::rank,
                                       typename of::template shape_with<of::columns, right>,
                                       typename of::template shape_with<of::columns>>;
    tensor<T, SA> const left = a;
    tensor<T, SB> const wanted = b;
    auto x = tensor<T, x_shape>::empty();
    for (size_t i = 0; i < of::batch; ++i) {
        detail::solve_least_squares<of::rows, of::columns, right>(
            left.data() + i * of::rows * of::columns, wanted.data() + i * of::rows * right,
            x.data() + i * of::columns * right);
    }
    return x;
}

template <class Values, class Vectors>
struct eigenvalues_and_vectors {
    Values values;   // (n), in ascending order
    Vectors vectors; // (n, n): column j, of length 1 and with either sign, is that of value j
};

// The eigenvalues and eigenvectors of a symmetric matrix, of which only the lower triangle is read,
// matmul(a, vectors) = vectors * values, as numpy.linalg.eigh: auto [values, vectors] = eigh(a).
// Throws castnet::error if a number is not finite.
template <TensorExpression A>
auto eigh(A const& a) {
    using S = typename A::shape_type;
    using of = detail::matrices_of<S>;
    using T = detail::real_value<A>;
    static_assert(detail::has_squares<S>, "castnet: eigh takes a square matrix, a symmetric one");
    constexpr size_t n = of::columns;
    using values_type = tensor<T, typename of::template shape_with<n>>;
    eigenvalues_and_vectors<values_type, tensor<T, S>> found{values_type::empty(), a};
    for (size_t i = 0; i < of::batch; ++i) {
        detail::decompose_symmetric<n>(found.vectors.data() + i * n * n,
                                       found.values.data() + i * n);
    }
    return found;
}

template <class U, class Values, class Vt>
struct singular_values_and_vectors {
    U u;      // (rows, k), columns of length 1 at right angles to each other
    Values s; // (k), not negative, in descending order; k = min(rows, columns)
    Vt vt;    // (k, columns), rows of length 1 at right angles to each other
};

// The singular values and vectors of a matrix, matmul(u * s, vt) = a, as numpy.linalg.svd without
// full_matrices: auto [u, s, vt] = svd(a). Row j of vt and column j of u may both have the other
// sign. Throws castnet::error if a number is not finite.
template <TensorExpression A>
auto svd(A const& a) {
    using S = typename A::shape_type;
    using of = detail::matrices_of<S>;
    using T = detail::real_value<A>;
    static_assert(of::found, "castnet: svd takes a matrix, or batches of them");
    if constexpr (of::rows < of::columns) { // as of the transposed matrix
        auto const turned = [](auto const& x) {
            return evaluate(detail::with_axis_last<S::rank - 2>(detail::view_of(x)));
        };
        auto const values = detail::kept_values(a);
        auto const found = svd(turned(values));
        auto u = turned(found.vt);
        auto vt = turned(found.u);
        return singular_values_and_vectors<decltype(u), std::remove_cvref_t<decltype(found.s)>,
                                           decltype(vt)>{u, found.s, vt};
    } else {
        constexpr size_t n = of::columns;
        using s_type = tensor<T, typename of::template shape_with<n>>;
        using vt_type = tensor<T, typename of::template shape_with<n, n>>;
        tensor<T, S> numbers = a;
        singular_values_and_vectors<tensor<T, S>, s_type, vt_type> found{
            tensor<T, S>::empty(), s_type::empty(), vt_type::empty()};
        for (size_t i = 0; i < of::batch; ++i) {
            detail::decompose_tall<of::rows, n>(
                numbers.data() + i * of::rows * n, found.u.data() + i * of::rows * n,
                found.s.data() + i * n, found.vt.data() + i * n * n);
        }
        return found;
    }
}

} // namespace castnet
