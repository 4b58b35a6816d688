// Joining of tensors: concatenate along an axis they have, stack along a new one. Computed at once,
// in the common type of the elements.
#pragma once

#include <castnet/tensor/reduce.hpp>
#include <castnet/tensor/views.hpp>

namespace castnet {

namespace detail {

template <size_t Axis, class A, class B>
constexpr bool equal_but_for_axis() {
    if (A::rank != B::rank) {
        return false;
    }
    for (size_t axis = 0; axis < A::rank; ++axis) {
        if (axis != Axis && A::extent[axis] != B::extent[axis]) {
            return false;
        }
    }
    return true;
}

template <size_t Axis, class First, class Other>
inline constexpr bool can_join = equal_but_for_axis<Axis, First, Other>();

template <size_t Axis, size_t Total, class S, size_t... I>
auto lengthened(std::index_sequence<I...>) -> shape<(I == Axis ? Total : S::extent[I])...>;

template <size_t Axis, size_t Count, class S, size_t... I>
auto stacked(std::index_sequence<I...>) -> shape<(I < Axis    ? S::extent[I < S::rank ? I : 0]
                                                  : I == Axis ? Count
                                                              : S::extent[I - 1])...>;

template <size_t Axis, size_t Begin, class R, class X, class... More>
void fill_along(R& result, X const& x, More const&... more) {
    constexpr size_t end = Begin + X::shape_type::extent[Axis];
    slice<Axis, Begin, end>(result) = x;
    if constexpr (sizeof...(More) > 0) {
        fill_along<Axis, end>(result, more...);
    }
}

} // namespace detail

template <size_t Axis, TensorExpression X, TensorExpression... More>
auto concatenate(X const& x, More const&... more) {
    using S = typename X::shape_type;
    static_assert(detail::has_axis<S, Axis>, "castnet: the tensor has no such axis");
    static_assert((detail::can_join<Axis, S, typename More::shape_type> && ...),
                  "castnet: tensors that are concatenated may differ in the extent of that axis "
                  "only");
    constexpr size_t total = (S::extent[Axis] + ... + More::shape_type::extent[Axis]);
    using joined =
        decltype(detail::lengthened<Axis, total, S>(std::make_index_sequence<S::rank>{}));
    auto result = tensor<detail::common_value_t<X, More...>, joined,
                         detail::device_of_operands<X, More...>>::empty();
    detail::fill_along<Axis, 0>(result, x, more...);
    return result;
}

template <size_t Axis, TensorExpression X, TensorExpression... More>
auto stack(X const& x, More const&... more) {
    using S = typename X::shape_type;
    static_assert(Axis <= S::rank, "castnet: the new axis must be at most the rank of the tensors");
    static_assert((detail::same_shape<S, typename More::shape_type> && ...),
                  "castnet: tensors that are stacked must have the same shape");
    using piled = decltype(detail::stacked<Axis, 1 + sizeof...(More), S>(
        std::make_index_sequence<S::rank + 1>{}));
    auto result = tensor<detail::common_value_t<X, More...>, piled,
                         detail::device_of_operands<X, More...>>::empty();
    size_t place = 0;
    select<Axis>(result, place) = x;
    ((select<Axis>(result, ++place) = more), ...);
    return result;
}

} // namespace castnet
