// Tensors as std::mdspan, and back: the same elements. Needs a standard library with <mdspan>
// (C++23); this header is empty without.
#pragma once

#include <castnet/tensor/views.hpp>

#include <algorithm>
#include <array>
#include <type_traits>
#include <version>

#ifdef __cpp_lib_mdspan
#include <mdspan>

namespace castnet {

namespace detail {

// Whether no element of a view stands at two places.
template <class S, class Strides>
constexpr bool shows_elements_once() {
    for (size_t axis = 0; axis != S::rank; ++axis) {
        if (S::extent[axis] > 1 && Strides::step[axis] == 0) {
            return false;
        }
    }
    return true;
}

template <class T, size_t... D, size_t... Step>
auto as_mdspan(tensor_view<T, shape<D...>, strides<Step...>> x) {
    using V = decltype(x);
    using extents = std::extents<size_t, D...>;
    static_assert(shows_elements_once<shape<D...>, strides<Step...>>(),
                  "castnet: mdspan_of: this view repeats elements, which a std::mdspan cannot: "
                  "evaluate() it first");
    if constexpr (V::is_flat) {
        return std::mdspan<T, extents>{x.data()};
    } else {
        std::array<size_t, sizeof...(D)> const steps{std::max(Step, size_t{1})...};
        return std::mdspan<T, extents, std::layout_stride>{
            x.data(), std::layout_stride::mapping<extents>{extents{}, steps}};
    }
}

template <class Extents, size_t... Axis>
auto shape_of_extents(std::index_sequence<Axis...>) -> shape<Extents::static_extent(Axis)...>;

} // namespace detail

// A std::mdspan of the elements of a tensor of the host that has a name, or of a view, writable if
// these are. It is valid as long as the tensor.
template <TensorExpression X>
auto mdspan_of(X&& x) {
    return detail::as_mdspan(detail::view_of(static_cast<X&&>(x)));
}

// A view of the elements of a std::mdspan in row-major order, whose extents the compiler knows.
template <class T, class Extents>
auto tensor_view_of(std::mdspan<T, Extents> x) {
    static_assert(Extents::rank_dynamic() == 0,
                  "castnet: tensor_view_of: the compiler must know all extents of the std::mdspan");
    using S =
        decltype(detail::shape_of_extents<Extents>(std::make_index_sequence<Extents::rank()>{}));
    return tensor_view<T, S>{x.data_handle()};
}

} // namespace castnet
#endif
