// Neighbouring axes that lie as one in all operands of an expression, as one: loops over its last
// axis are longer then, and nest less.
#pragma once

#include <castnet/tensor/detail/operand.hpp>
#include <castnet/tensor/detail/reduced_axes.hpp>
#include <castnet/tensor/elementwise.hpp>
#include <castnet/tensor/views.hpp>

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

namespace castnet::detail {

// The step of a view along one of the axes of a result, counted from the last; 0 where it is
// repeated.
template <class X>
constexpr size_t step_along(size_t from_last) {
    using S = typename X::shape_type;
    return extent_from_last<S>(from_last) == 1 ? 0 : X::strides_type::step[S::rank - 1 - from_last];
}

// Whether two axes of a result, of which the inner one has so many elements, are one to all views
// in X; unknown where X has other expressions than of views. Axes are counted from the last.
template <class X>
struct axes_in {
    static constexpr bool are_known = Number<X> || requires { typename X::strides_type; };
    static constexpr bool are_one(size_t outer, size_t inner, size_t extent) {
        if constexpr (Number<X>) {
            return true;
        } else {
            return step_along<X>(outer) == step_along<X>(inner) * extent;
        }
    }
};
template <class... X>
struct axes_in<std::tuple<X...>> {
    static constexpr bool are_known = (axes_in<X>::are_known && ...);
    static constexpr bool are_one(size_t outer, size_t inner, size_t extent) {
        return (axes_in<X>::are_one(outer, inner, extent) && ...);
    }
};
template <fn F, class T, class S, class... X>
struct axes_in<elementwise_expression<F, T, S, X...>> : axes_in<std::tuple<X...>> {};

// The axes of S as X has them, some of which a reduction drops: which ones become one; of rank 0
// where X does not tell.
template <class S, class X, size_t... Reduced>
struct merged_axes {
    size_t rank = 0;                 // when merged
    size_t extent[S::rank + 1] = {}; // of merged axes
    size_t last[S::rank + 1] = {};   // the last of each, among those with more than one element
    bool is_reduced[S::rank + 1] = {};
    size_t of[S::rank + 1] = {}; // which merged axis each becomes

    constexpr merged_axes() {
        if constexpr (axes_in<X>::are_known) {
            merge();
        }
    }
    constexpr void merge() {
        for (size_t axis = 0; axis != S::rank; ++axis) {
            if (S::extent[axis] > 1) {
                bool const reduced = is_one_of<Reduced...>(axis);
                if (rank == 0 || is_reduced[rank - 1] != reduced ||
                    !axes_in<X>::are_one(S::rank - 1 - last[rank - 1], S::rank - 1 - axis,
                                         S::extent[axis])) {
                    is_reduced[rank] = reduced;
                    extent[rank++] = 1;
                }
                extent[rank - 1] *= S::extent[axis];
                last[rank - 1] = axis;
            }
            of[axis] = rank > 0 ? rank - 1 : 0;
        }
    }
    constexpr size_t count_of_reduced() const {
        size_t count = 0;
        for (size_t axis = 0; axis != rank; ++axis) {
            count += is_reduced[axis] ? 1 : 0;
        }
        return count;
    }
    constexpr size_t reduced(size_t i) const { // the merged axis that is reduced after i others
        size_t axis = 0;
        for (size_t before = 0; before != i || !is_reduced[axis]; ++axis) {
            before += is_reduced[axis] ? 1 : 0;
        }
        return axis;
    }
};

template <class Merged>
inline constexpr Merged merged{};
template <class Merged>
constexpr auto reduced_of() {
    return []<size_t... I>(std::index_sequence<I...>) {
        return std::index_sequence<merged<Merged>.reduced(I)...>{};
    }(std::make_index_sequence<merged<Merged>.count_of_reduced()>{});
}

// What an operand has along a merged axis of a result of shape S.
template <class Merged, class S, class Operand>
constexpr size_t merged_extent(size_t axis) {
    size_t extent = 1;
    for (size_t one = 0; one != S::rank; ++one) {
        extent *= merged<Merged>.of[one] == axis
                      ? extent_from_last<typename Operand::shape_type>(S::rank - 1 - one)
                      : 1;
    }
    return extent == merged<Merged>.extent[axis] ? extent : 1; // or repeated
}
template <class Merged, class S, class Operand, size_t... Axis>
auto merged_shape(std::index_sequence<Axis...>)
    -> shape<merged_extent<Merged, S, Operand>(Axis)...>;
template <class Merged, class S, class View, size_t... Axis>
auto merged_steps(std::index_sequence<Axis...>)
    -> strides<step_along<View>(S::rank - 1 - merged<Merged>.last[Axis])...>;

// An operand of an expression of shape S, with its axes merged.
template <class Merged, class S, Number X>
X with_merged_axes(X x) {
    return x;
}
template <class Merged, class S, TensorExpression X>
    requires requires { typename X::strides_type; }
auto with_merged_axes(X const& x) {
    using every = std::make_index_sequence<merged<Merged>.rank>;
    using view = decltype(view_of(x));
    using element = std::remove_pointer_t<decltype(view_of(x).data())>;
    return tensor_view<element, decltype(merged_shape<Merged, S, view>(every{})),
                       decltype(merged_steps<Merged, S, view>(every{}))>{x.data()};
}
template <class Merged, class S, fn F, class T, class Own, class... X>
auto with_merged_axes(elementwise_expression<F, T, Own, X...> const& x) {
    using expression = elementwise_expression<F, T, Own, X...>;
    using every = std::make_index_sequence<merged<Merged>.rank>;
    using own = decltype(merged_shape<Merged, S, expression>(every{}));
    return std::apply(
        [](X const&... operand) {
            return elementwise_expression<F, T, own,
                                          decltype(with_merged_axes<Merged, S>(operand))...>{
                function<F>{}, with_merged_axes<Merged, S>(operand)...};
        },
        x.operands());
}

// Whether that is an expression of fewer axes, of which some remain.
template <class Merged, class S>
inline constexpr bool merges_axes = merged<Merged>.rank > 0 && merged<Merged>.rank < S::rank;

} // namespace castnet::detail
