// Systems of linear equations for symbols: cholesky, solve, inverse and determinant, as for tensors
// (tensor/linear_algebra.hpp), with gradients. Nothing is thrown while a network runs: where a
// matrix has no factor or no inverse, results are NaN or infinite. A matrix that cholesky takes
// counts as symmetric: its gradient is, too. A determinant of 0 has a gradient of NaN.
#pragma once

#include <castnet/graph/emit.hpp>
#include <castnet/graph/op/batch_matmul.hpp>
#include <castnet/graph/op/linear_algebra.hpp>
#include <castnet/graph/row_index.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/tensor/linear_algebra.hpp>

#include <type_traits>
#include <utility>

namespace castnet {

template <class S>
inline constexpr bool holds_squares = detail::has_squares<S> && !channels_first<S>;
template <class A, class B>
inline constexpr bool holds_system =
    holds_squares<A> && detail::can_solve<A, B> && !channels_first<B>;

namespace detail {

// Classes, so that every compiler prints the shapes.
template <class S>
struct takes_squares {
    static_assert(holds_squares<S>,
                  "castnet: cholesky, inverse and determinant take square matrices in the last two "
                  "axes of a tensor that is no image: cn::reshape_to<cn::row_major_shape<a, n, n>> "
                  "makes matrices of an image; see takes_squares<shape>");
    static constexpr bool checked = holds_squares<S>;
};
template <class A, class B>
struct takes_system {
    static_assert(holds_system<A, B>,
                  "castnet: solve takes square matrices in the last two axes and a right side with "
                  "as many rows, and with the matrices' batches: a vector, or the columns of a "
                  "matrix, for each; neither may be an image, of which cn::reshape_to<"
                  "cn::row_major_shape<a, n, n>> makes matrices; see takes_system<matrices, right "
                  "side>");
    static constexpr bool checked = holds_system<A, B>;
};

// The shape of a right side as matrices, and of a number for each matrix.
template <class A, class B>
using as_columns =
    with_matrix<A, A::extent[A::rank - 1], B::count * A::extent[A::rank - 1] / A::count>;
template <class S, size_t... Axis>
constexpr auto one_number_each(std::index_sequence<Axis...>) {
    if constexpr (sizeof...(Axis) == 0) {
        return shape<>{};
    } else {
        return row_major_shape<S::extent[Axis]...>{};
    }
}

// x with matmul(a, x) = b of triangular matrices, transposed or not.
template <class A, class B>
constexpr symbol<B> solve_triangles(symbol<A> a, symbol<B> b, ir::triangle_form const& form) {
    if constexpr (takes_system<A, B>::checked) {
        bool const of_samples = any_of_samples(a, b);
        auto const columns = reshaped(b, as_columns<A, B>{});
        return reshaped(
            emit_operation<op::solve_triangular, as_columns<A, B>>(
                *a.g, form.packed(), {array_id(a, of_samples), array_id(columns, of_samples)}),
            B{});
    } else {
        return b;
    }
}

// The node of a's triangular factors.
template <class A>
constexpr int triangular_factors(ir::graph& g, int a) {
    constexpr size_t n = A::extent[A::rank - 1];
    return emit_operation<op::triangular_factors, with_matrix<A, n, n + 1>>(g, -1, {a}).id;
}

// 1 on the diagonals of square matrices.
template <class S>
constexpr auto units(ir::graph& g) {
    return equal(row_index<S>(g), channel_index<with_channels<S, S::extent[S::rank - 1]>>(g));
}

} // namespace detail

// The lower triangular L with matmul(L, transpose(L)) = a; only the lower triangle of a is read.
template <class S>
constexpr symbol<S> cholesky(symbol<S> a) {
    if constexpr (detail::takes_squares<S>::checked) {
        return detail::emit_operation<op::cholesky, S>(*a.g, -1, {detail::array_id(a)});
    } else {
        return a;
    }
}

// x with matmul(a, x) = b of a triangular matrix: the other triangle is not read.
template <class A, class B>
constexpr symbol<B> solve_lower_triangular(symbol<A> a, symbol<B> b) {
    return detail::solve_triangles(a, b, {.lower = true});
}
template <class A, class B>
constexpr symbol<B> solve_upper_triangular(symbol<A> a, symbol<B> b) {
    return detail::solve_triangles(a, b, {.lower = false});
}
// x with matmul(a, x) = b of a positive definite matrix whose factor = cholesky(a).
template <class A, class B>
constexpr symbol<B> cholesky_solve(symbol<A> factor, symbol<B> b) {
    return detail::solve_triangles(factor, solve_lower_triangular(factor, b),
                                   {.lower = true, .transposed = true});
}

// x with matmul(a, x) = b, for a vector b or the columns of a matrix.
template <class A, class B>
constexpr symbol<B> solve(symbol<A> a, symbol<B> b) {
    if constexpr (detail::takes_system<A, B>::checked) {
        using columns = detail::as_columns<A, B>;
        bool const of_samples = detail::any_of_samples(a, b);
        int const matrices = detail::array_id(a, of_samples);
        return reshaped(detail::emit_operation<op::solve, columns>(
                            *a.g, 0,
                            {matrices, detail::array_id(reshaped(b, columns{}), of_samples),
                             detail::triangular_factors<A>(*a.g, matrices)}),
                        B{});
    } else {
        return b;
    }
}

#define CASTNET_REFUSES_TENSORS(function)                                                          \
    template <class A, class B>                                                                    \
        requires SymbolsAndElements<A, B>                                                          \
    constexpr auto function(A const& a, B const& b) {                                              \
        static_assert(operands_are_traced<A, B>::checked);                                         \
        if constexpr (Symbol<A>) {                                                                 \
            return a;                                                                              \
        } else {                                                                                   \
            return b;                                                                              \
        }                                                                                          \
    }
CASTNET_REFUSES_TENSORS(solve)
CASTNET_REFUSES_TENSORS(solve_lower_triangular)
CASTNET_REFUSES_TENSORS(solve_upper_triangular)
CASTNET_REFUSES_TENSORS(cholesky_solve)
#undef CASTNET_REFUSES_TENSORS

// The matrices with matmul(a, inverse(a)) = 1.
template <class S>
constexpr symbol<S> inverse(symbol<S> a) {
    if constexpr (detail::takes_squares<S>::checked) {
        return solve(a, symbol<S>{a.g, detail::units<S>(*a.g).id});
    } else {
        return a;
    }
}

// The determinant of each matrix: a number, or a tensor of the axes before the last two.
template <class S>
constexpr auto determinant(symbol<S> a) {
    if constexpr (detail::takes_squares<S>::checked) {
        using result =
            decltype(detail::one_number_each<S>(std::make_index_sequence<S::rank - 2>{}));
        int const matrices = detail::array_id(a);
        return detail::emit_operation<op::determinant, result>(
            *a.g, -1, {matrices, detail::triangular_factors<S>(*a.g, matrices)});
    } else {
        return a;
    }
}

} // namespace castnet
