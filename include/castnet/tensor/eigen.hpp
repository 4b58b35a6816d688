// Eigen's maps of tensors with one or two axes, and views of Eigen's matrices: the same elements,
// seen by the other library. Needs Eigen 3 (Debian: libeigen3-dev).
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/tensor/owning_tensor.hpp>
#include <castnet/tensor/views.hpp>

#include <Eigen/Core>
#include <type_traits>

namespace castnet {

namespace detail {

template <class S, size_t Axis>
inline constexpr int eigen_extent = Axis < S::rank ? int(S::extent[Axis < S::rank ? Axis : 0]) : 1;

// The strides of an Eigen::Matrix of S, whose rows or columns lie one after the other.
template <class S, bool RowMajor>
struct strides_of_eigen {
    using type = row_major<S>;
};
template <class S>
    requires(S::rank == 2)
struct strides_of_eigen<S, false> {
    using type = strides<1, S::extent[0]>;
};

} // namespace detail

// An Eigen::Map of the elements of a tensor that has a name, or of a view, writable if these are; a
// vector is a column. It is valid as long as the tensor.
template <TensorExpression X>
auto eigen_map(X&& x) {
    auto const view = detail::view_of(static_cast<X&&>(x));
    using V = std::remove_const_t<decltype(view)>;
    using S = typename V::shape_type;
    using T = std::remove_pointer_t<decltype(view.data())>;
    static_assert(S::rank == 1 || S::rank == 2,
                  "castnet: eigen_map: Eigen's matrices have one axis or two");
    constexpr int rows = detail::eigen_extent<S, 0>, columns = detail::eigen_extent<S, 1>;
    constexpr bool is_column = columns == 1; // which Eigen stores by columns
    constexpr auto& step = V::strides_type::step;
    constexpr int by_row = int(step[0]), by_column = S::rank == 2 ? int(step[S::rank - 1]) : 1;
    static_assert((rows == 1 || by_row != 0) && (columns == 1 || by_column != 0),
                  "castnet: eigen_map: Eigen has no matrices that repeat a row or a column: "
                  "evaluate() what broadcast_to() shows");
    using matrix = Eigen::Matrix<std::remove_const_t<T>, rows, columns,
                                 is_column ? Eigen::ColMajor : Eigen::RowMajor>;
    using stride = std::conditional_t<is_column, Eigen::Stride<rows * by_row, by_row>,
                                      Eigen::Stride<by_row, by_column>>;
    using mapped = std::conditional_t<std::is_const_v<T>, matrix const, matrix>;
    return Eigen::Map<mapped, Eigen::Unaligned, stride>{view.data()};
}

// A view of the elements of an Eigen::Matrix or Array, fixed or dynamic, which must have shape S;
// throws castnet::error if it has not. It is valid as long as the matrix, and its memory.
template <Shape S, class Matrix>
auto tensor_view_of(Eigen::PlainObjectBase<Matrix>& x) {
    using T = typename Matrix::Scalar;
    static_assert(S::rank == 1 || S::rank == 2,
                  "castnet: tensor_view_of: Eigen's matrices have one axis or two");
    constexpr int rows = detail::eigen_extent<S, 0>, columns = detail::eigen_extent<S, 1>;
    bool const turned = S::rank == 1 && x.rows() == 1;
    if (turned ? x.cols() != rows : x.rows() != rows || x.cols() != columns) {
        throw error({"castnet: tensor_view_of: the matrix has ", quantity(x.rows(), "row"), " and ",
                     quantity(x.cols(), "column"), ", expected ", rows, " and ", columns});
    }
    return tensor_view<T, S, typename detail::strides_of_eigen<S, Matrix::IsRowMajor>::type>{
        x.data()};
}
template <Shape S, class Matrix>
auto tensor_view_of(Eigen::PlainObjectBase<Matrix> const& x) {
    auto const view = tensor_view_of<S>(const_cast<Eigen::PlainObjectBase<Matrix>&>(x));
    using V = std::remove_const_t<decltype(view)>;
    return tensor_view<typename V::value_type const, S, typename V::strides_type>{view};
}

} // namespace castnet
