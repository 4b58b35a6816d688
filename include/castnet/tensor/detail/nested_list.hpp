// Nested braces as the value of a tensor: {{1, 2, 3}, {4, 5, 6}} for shape<2, 3>.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/shape.hpp>

#include <initializer_list>
#include <string>

namespace castnet::detail {

template <class T, size_t Rank>
struct nested_list_of {
    using type = std::initializer_list<typename nested_list_of<T, Rank - 1>::type>;
};
template <class T>
struct nested_list_of<T, 0> {
    using type = T;
};
template <class T, size_t Rank>
using nested_list = typename nested_list_of<T, Rank>::type;

// Copies the elements in row-major order; returns where the next one goes. Throws castnet::error if
// the braces do not have the extents of S.
template <class S, size_t Axis, class T>
T* copy_nested(nested_list<T, S::rank - Axis> const& list, T* to) {
    if constexpr (Axis == S::rank) {
        *to = list;
        return to + 1;
    } else {
        if (list.size() != S::extent[Axis]) {
            throw error({"castnet: braces for axis ", Axis, " of a tensor hold ",
                         quantity(list.size(), "entry", "entries"), ", but its shape wants ",
                         S::extent[Axis]});
        }
        for (auto const& entry : list) {
            to = copy_nested<S, Axis + 1, T>(entry, to);
        }
        return to;
    }
}

} // namespace castnet::detail
