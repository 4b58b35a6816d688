// strides<N...>: the distance in memory between neighbours along each axis, in elements.
#pragma once

#include <castnet/core/shape.hpp>

#include <utility>

namespace castnet {

template <size_t... N>
struct strides {
    static constexpr size_t step[sizeof...(N) > 0 ? sizeof...(N) : 1] = {N...}; // step[axis]
};

namespace detail {

template <class S>
constexpr size_t row_major_step(size_t axis) {
    size_t step = 1;
    for (size_t next = axis + 1; next != S::rank; ++next) {
        step *= S::extent[next];
    }
    return step;
}

template <class S, size_t... Axis>
auto row_major_of(std::index_sequence<Axis...>) -> strides<row_major_step<S>(Axis)...>;

// Whether the elements of S at these strides follow each other in memory without gaps.
template <class S, class Strides>
constexpr bool is_row_major() {
    for (size_t axis = 0; axis != S::rank; ++axis) {
        if (S::extent[axis] > 1 && Strides::step[axis] != row_major_step<S>(axis)) {
            return false;
        }
    }
    return true;
}

// The number of elements from the first to the last in memory, both included.
template <class S, class Strides>
constexpr size_t reach() {
    size_t last = 0;
    for (size_t axis = 0; axis != S::rank; ++axis) {
        last += (S::extent[axis] - 1) * Strides::step[axis];
    }
    return last + 1;
}

} // namespace detail

// The strides of a tensor whose last axis is contiguous, as in C and NumPy.
template <Shape S>
using row_major = decltype(detail::row_major_of<S>(std::make_index_sequence<S::rank>{}));

} // namespace castnet
