// Axes of a view in the order in which its elements lie in memory.
#pragma once

#include <castnet/tensor/views.hpp>

#include <array>
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
