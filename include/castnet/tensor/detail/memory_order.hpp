// Axes of a view, or of an expression of views, in the order in which its elements lie in memory.
#pragma once

#include <castnet/tensor/elementwise.hpp>
#include <castnet/tensor/views.hpp>

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

namespace castnet::detail {

// The axes from the one with the longest steps to the one with the shortest; those of one element
// first.
template <class X>
constexpr auto axes_in_memory() {
    using S = typename X::shape_type;
    std::array<size_t, S::rank> axes{};
    auto const comes_before = [](size_t a, size_t b) {
        return S::extent[b] > 1 &&
               (S::extent[a] == 1 || X::strides_type::step[a] > X::strides_type::step[b]);
    };
    for (size_t axis = 0; axis != S::rank; ++axis) {
        size_t at = axis;
        for (; at > 0 && comes_before(axis, axes[at - 1]); --at) {
            axes[at] = axes[at - 1];
        }
        axes[at] = axis;
    }
    return axes;
}

// Whether x is a view whose axes lie in another order, with elements that are there once.
template <class X>
constexpr bool lies_in_other_order() {
    if constexpr (requires { typename X::strides_type; }) {
        using S = typename X::shape_type;
        constexpr auto axes = axes_in_memory<X>();
        size_t before = 0; // of those with more than one element
        for (size_t axis = 0; axis != S::rank; ++axis) {
            if (S::extent[axis] > 1 && X::strides_type::step[axis] == 0) {
                return false;
            }
        }
        for (size_t axis : axes) {
            if (S::extent[axis] > 1) {
                if (axis < before) {
                    return true;
                }
                before = axis;
            }
        }
    }
    return false;
}

// The view in whose order an expression is: its first one of the expression's shape S that lies in
// another order than its axes, as all of that shape do; or void.
template <class X, class S>
struct turned_operand {
    using type = void;
    template <class View>
    static constexpr bool lies_like = true;
};
template <class X, class S>
    requires std::is_same_v<typename X::shape_type, S> && requires { typename X::strides_type; }
struct turned_operand<X, S> {
    using type = std::conditional_t<lies_in_other_order<X>(), X, void>;
    template <class View>
    static constexpr bool lies_like = axes_in_memory<X>() == axes_in_memory<View>();
};
template <class S, class... X>
struct turned_operands {
    using type = void;
};
template <class S, class First, class... More>
struct turned_operands<S, First, More...> {
    using first = typename turned_operand<First, S>::type;
    using type = std::conditional_t<std::is_void_v<first>,
                                    typename turned_operands<S, More...>::type, first>;
};
template <fn F, class T, class Part, class... X, class S>
struct turned_operand<elementwise_expression<F, T, Part, X...>, S> : turned_operands<S, X...> {
    template <class View>
    static constexpr bool lies_like = (turned_operand<X, S>::template lies_like<View> && ...);
};

// A view in whose order x is better read than in that of its axes, or void.
template <class X>
constexpr auto other_order() {
    using operand = turned_operand<X, typename X::shape_type>;
    using view = typename operand::type;
    if constexpr (std::is_void_v<view>) {
        return std::type_identity<void>{};
    } else {
        return std::type_identity<
            std::conditional_t<operand::template lies_like<view>, view, void>>{};
    }
}
template <class X>
using other_order_t = typename decltype(other_order<X>())::type;

// Axes of a result of Rank as those of an operand, whose axes are the last ones.
template <size_t Rank, size_t OfResult, size_t... Axis>
auto axes_of_operand(std::index_sequence<Axis...>)
    -> std::index_sequence<(Axis + Rank >= OfResult ? Axis + Rank - OfResult : Rank)...>;

// An expression, with its axes in a new order.
template <Number X, size_t... Axis>
X operand_with_axes(X x, std::index_sequence<Axis...>) {
    return x;
}
template <TensorExpression X, size_t... Axis>
    requires requires { typename X::strides_type; }
auto operand_with_axes(X const& x, std::index_sequence<Axis...> axes) {
    using own = decltype(axes_of_operand<X::shape_type::rank, sizeof...(Axis)>(axes));
    return with_axes(view_of(x), own{});
}
template <fn F, class T, class S, class... X, size_t... Axis>
auto operand_with_axes(elementwise_expression<F, T, S, X...> const& x,
                       std::index_sequence<Axis...> axes) {
    using own = decltype(axes_of_operand<S::rank, sizeof...(Axis)>(axes));
    using turned = typename decltype(with_axes(tensor_view<T, S>{nullptr}, own{}))::shape_type;
    return std::apply(
        [&](X const&... operand) {
            return elementwise_expression<F, T, turned,
                                          decltype(operand_with_axes(operand, axes))...>{
                function<F>{}, operand_with_axes(operand, axes)...};
        },
        x.operands());
}

template <class X>
constexpr auto places_in_memory() {
    constexpr auto axes = axes_in_memory<X>();
    auto places = axes;
    for (size_t i = 0; i != axes.size(); ++i) {
        places[axes[i]] = i;
    }
    return places;
}

template <class X, size_t... I>
auto in_memory_order(std::index_sequence<I...>) -> std::index_sequence<axes_in_memory<X>()[I]...>;
template <class X, size_t... Axes>
auto found_in_memory(std::index_sequence<Axes...>)
    -> std::index_sequence<places_in_memory<X>()[Axes]...>;

} // namespace castnet::detail
