// Diagonals and triangles of matrices: diag, trace, tril and triu. Computed at once, on the calling
// thread.
#pragma once

#include <castnet/tensor/statistics.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet {

namespace detail {

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

// The matrices x with 0 on and right of such a diagonal, or left of it.
template <bool OnRight, class X>
auto with_clear_triangles(X const& x, int right) {
    static_assert(X::shape_type::rank >= 2,
                  "castnet: triangles are of matrices, or batches of them");
    using result = tensor<typename X::value_type, typename X::shape_type, typename X::device_type>;
    if constexpr (!chooses_triangles<X>) {
        result matrices(x);
        clear_triangles<OnRight>(matrices, right);
        return matrices;
    } else if constexpr (OnRight) {
        return result(where(distances_from_diagonal<X>() < right, x, 0));
    } else {
        return result(where(distances_from_diagonal<X>() >= right, x, 0));
    }
}

} // namespace detail

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
    return detail::with_clear_triangles<true>(x, Right + 1);
}
// The same on and above, as numpy.triu.
template <int Right = 0, TensorExpression X>
auto triu(X const& x) {
    return detail::with_clear_triangles<false>(x, Right);
}

} // namespace castnet
