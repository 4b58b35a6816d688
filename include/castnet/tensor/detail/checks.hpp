// Conditions on shapes, named so that a failed static_assert shows what was asked of what.
#pragma once

#include <castnet/core/reshape.hpp>

namespace castnet::detail {

template <class S, size_t Axis>
inline constexpr bool has_axis = Axis + 1 <= S::rank;

template <class S>
inline constexpr bool has_last_axis = S::rank > 0;
template <class S>
inline constexpr bool is_matrix = S::rank == 2;
template <class S>
inline constexpr bool is_vector = S::rank == 1;

template <class S, size_t Axis, size_t Begin, size_t End>
inline constexpr bool has_range = Begin < End && End <= S::extent[Axis];

template <size_t... Axes>
constexpr bool are_distinct() {
    size_t const axes[] = {Axes..., 0};
    for (size_t i = 0; i != sizeof...(Axes); ++i) {
        for (size_t j = 0; j < i; ++j) {
            if (axes[i] == axes[j]) {
                return false;
            }
        }
    }
    return true;
}

template <class S, size_t... Axes>
inline constexpr bool has_distinct_axes = (has_axis<S, Axes> && ...) && are_distinct<Axes...>();

template <class S, size_t... Axes>
inline constexpr bool is_permutation_of =
    sizeof...(Axes) == S::rank && has_distinct_axes<S, Axes...>;

} // namespace castnet::detail
