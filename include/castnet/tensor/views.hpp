// Views of a tensor's elements, without copies: transpose, reshape, slice, split, select, diagonal,
// expand_dims, squeeze, broadcast_to.
//
// They take a view or a tensor that is not a temporary; the result is a view, valid as long as the
// tensor exists, and writable if the tensor is. An expression has to be evaluate()d into a tensor
// first.
#pragma once

#include <castnet/tensor/broadcast.hpp>
#include <castnet/tensor/detail/checks.hpp>
#include <castnet/tensor/strides.hpp>
#include <castnet/tensor/view.hpp>

#include <array>

namespace castnet {

namespace detail {

template <class X>
auto view_of(X&& x) {
    using given = std::remove_cvref_t<X>;
    constexpr bool has_elements = requires { typename given::strides_type; };
    static_assert(has_elements, "castnet: an expression has no elements to view: make a tensor of "
                                "it that has a name, cn::tensor t = expression;");
    if constexpr (!has_elements) { // after the complaint
        using S = typename given::shape_type;
        return tensor_view<typename given::value_type, S, row_major<S>,
                           typename given::device_type>{nullptr};
    } else if constexpr (requires { x.view(); }) {
        static_assert(std::is_lvalue_reference_v<X>,
                      "castnet: a view of a temporary tensor would outlive it: give it a name");
        return x.view();
    } else {
        return x;
    }
}

// The axes of x in a new order; an axis number of at least the rank means a new axis of extent 1.
template <class T, class S, class Strides, class Device, size_t... Axis>
auto with_axes(tensor_view<T, S, Strides, Device> x, std::index_sequence<Axis...>) {
    return tensor_view<T, shape<(Axis < S::rank ? S::extent[Axis % (S::rank + 1)] : 1)...>,
                       strides<(Axis < S::rank ? Strides::step[Axis % (S::rank + 1)] : 0)...>,
                       Device>{x.data()};
}

template <size_t... I>
auto reversed(std::index_sequence<I...>) -> std::index_sequence<(sizeof...(I) - 1 - I)...>;

template <size_t Axis, size_t... I>
auto left_out(std::index_sequence<I...>) -> std::index_sequence<(I < Axis ? I : I + 1)...>;

template <size_t Axis, size_t... I>
auto put_in(std::index_sequence<I...>) -> std::index_sequence<(I < Axis    ? I
                                                               : I == Axis ? sizeof...(I)
                                                                           : I - 1)...>;

template <size_t Axis, size_t Extent, size_t Step, class Pointer, class T, class S, class Strides,
          class Device, size_t... I>
auto cut(Pointer data, tensor_view<T, S, Strides, Device>, std::index_sequence<I...>) {
    return tensor_view<T, shape<(I == Axis ? Extent : S::extent[I])...>,
                       strides<(I == Axis ? Step * Strides::step[I] : Strides::step[I])...>,
                       Device>{data};
}

template <class To, class T, class S, class Strides, class Device, size_t... I>
auto spread(tensor_view<T, S, Strides, Device> x, std::index_sequence<I...>) {
    constexpr size_t added = To::rank - S::rank;
    return tensor_view<T const, To,
                       strides<(I < added || S::extent[I < added ? 0 : I - added] == 1
                                    ? 0
                                    : Strides::step[I < added ? 0 : I - added])...>,
                       Device>{x.data()};
}

} // namespace detail

// transpose(x) reverses the axes; transpose<2, 0, 1>(x) makes axis 2 the first, 0 the second, ….
template <size_t... Axes, TensorExpression X>
auto transpose(X&& x) {
    auto const view = detail::view_of(static_cast<X&&>(x));
    using S = typename decltype(view)::shape_type;
    if constexpr (sizeof...(Axes) == 0) {
        using axes = decltype(detail::reversed(std::make_index_sequence<S::rank>{}));
        return detail::with_axes(view, axes{});
    } else {
        static_assert(detail::is_permutation_of<S, Axes...>,
                      "castnet: transpose needs every axis of the tensor exactly once");
        return detail::with_axes(view, std::index_sequence<Axes...>{});
    }
}

// reshape<…>(x) of a tensor: a view of the same elements in row-major order. The tensor must be
// contiguous.
template <TensorExpression X, size_t... Extents>
auto reshaped(X&& x, shape<Extents...>) {
    auto const view = detail::view_of(static_cast<X&&>(x));
    using V = std::remove_const_t<decltype(view)>;
    static_assert(same_count<typename V::shape_type, shape<Extents...>>,
                  "castnet: reshape must keep the number of elements");
    static_assert(V::is_flat, "castnet: this view has gaps or another order; to reshape it, "
                              "evaluate() it into a tensor first");
    return tensor_view<typename V::element_type, shape<Extents...>, row_major<shape<Extents...>>,
                       typename V::device_type>{view.data()};
}

// Positions Begin, Begin + Step, … before End of one axis, as x[:, begin:end:step] in NumPy.
template <size_t Axis, size_t Begin, size_t End, size_t Step = 1, TensorExpression X>
auto slice(X&& x) {
    auto const view = detail::view_of(static_cast<X&&>(x));
    using V = std::remove_const_t<decltype(view)>;
    using S = typename V::shape_type;
    static_assert(detail::has_axis<S, Axis>, "castnet: the tensor has no such axis");
    static_assert(detail::has_range<S, Axis, Begin, End>,
                  "castnet: the slice is empty or reaches beyond the axis");
    static_assert(Step > 0, "castnet: the step of a slice must be at least 1");
    return detail::cut<Axis, (End - Begin + Step - 1) / Step, Step>(
        view.data() + Begin * V::strides_type::step[Axis], view,
        std::make_index_sequence<S::rank>{});
}

// Parts of equal extent along an axis, a std::array of views: auto const [left, right] =
// split<0, 2>(x), as numpy.split(x, 2, 0).
template <size_t Axis, size_t Parts, TensorExpression X>
auto split(X&& x) {
    auto const view = detail::view_of(static_cast<X&&>(x));
    using V = std::remove_const_t<decltype(view)>;
    using S = typename V::shape_type;
    static_assert(detail::has_axis<S, Axis>, "castnet: the tensor has no such axis");
    static_assert(parts_divide<Parts, S::extent[Axis]>,
                  "castnet: split: the extent of the axis must be a multiple of the number of "
                  "parts; see parts_divide<parts, extent>");
    constexpr size_t extent = S::extent[Axis] / Parts;
    return [&]<size_t... I>(std::index_sequence<I...>) {
        return std::array{
            detail::cut<Axis, extent, 1>(view.data() + I * extent * V::strides_type::step[Axis],
                                         view, std::make_index_sequence<S::rank>{})...};
    }(std::make_index_sequence<Parts>{});
}

// The sub-tensor at position i of one axis, which disappears. select<0>(x, i) is x[i], but throws
// castnet::error where i is out of range.
template <size_t Axis, TensorExpression X>
auto select(X&& x, size_t i) {
    auto const view = detail::view_of(static_cast<X&&>(x));
    using V = std::remove_const_t<decltype(view)>;
    using S = typename V::shape_type;
    static_assert(detail::has_axis<S, Axis>, "castnet: the tensor has no such axis");
    detail::check_index(i, Axis, S::extent[Axis]);
    using axes = decltype(detail::left_out<Axis>(std::make_index_sequence<S::rank - 1>{}));
    auto const rest = detail::with_axes(view, axes{});
    return decltype(detail::with_axes(view, axes{})){rest.data() + i * V::strides_type::step[Axis]};
}

// The main diagonal of a matrix, as numpy.diagonal. (einsum<"bii->bi">(x) is that of batches.)
template <TensorExpression X>
auto diagonal(X&& x) {
    auto const view = detail::view_of(static_cast<X&&>(x));
    using V = std::remove_const_t<decltype(view)>;
    using S = typename V::shape_type;
    static_assert(detail::is_matrix<S>, "castnet: diagonal takes a matrix: a tensor of two axes");
    if constexpr (detail::is_matrix<S>) {
        constexpr size_t length = S::extent[0] < S::extent[1] ? S::extent[0] : S::extent[1];
        constexpr size_t step = V::strides_type::step[0] + V::strides_type::step[1];
        return tensor_view<typename V::element_type, shape<length>, strides<step>,
                           typename V::device_type>{view.data()};
    } else {
        return view;
    }
}

// With an additional axis of extent 1 at this place.
template <size_t Axis, TensorExpression X>
auto expand_dims(X&& x) {
    auto const view = detail::view_of(static_cast<X&&>(x));
    using S = typename decltype(view)::shape_type;
    static_assert(Axis <= S::rank, "castnet: the new axis must be at most the rank of the tensor");
    using axes = decltype(detail::put_in<Axis>(std::make_index_sequence<S::rank + 1>{}));
    return detail::with_axes(view, axes{});
}

// Without an axis whose extent is 1.
template <size_t Axis, TensorExpression X>
auto squeeze(X&& x) {
    using S = typename std::remove_cvref_t<X>::shape_type;
    static_assert(detail::has_axis<S, Axis>, "castnet: the tensor has no such axis");
    static_assert(S::extent[Axis] == 1, "castnet: only an axis of extent 1 can be squeezed");
    return select<Axis>(static_cast<X&&>(x), 0);
}

// A read-only view whose missing or one-element axes are repeated.
template <size_t... Extents, TensorExpression X>
auto broadcast_to(X&& x) {
    auto const view = detail::view_of(static_cast<X&&>(x));
    using S = typename decltype(view)::shape_type;
    static_assert(broadcasts_to<S, shape<Extents...>>,
                  "castnet: the tensor does not broadcast to this shape");
    return detail::spread<shape<Extents...>>(view, std::make_index_sequence<sizeof...(Extents)>{});
}

} // namespace castnet
