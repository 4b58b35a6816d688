// Loops over all indices of a shape. Indices travel as function arguments, so the compiler sees
// ordinary nested loops.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/shape.hpp>

#include <utility>

namespace castnet::detail {

template <size_t... D>
auto without_last(shape<D...>) {
    return []<size_t... I>(std::index_sequence<I...>) {
        return shape<shape<D...>::extent[I]...>{};
    }(std::make_index_sequence<sizeof...(D) - 1>{});
}

// Calls row(i0, …) for every index without its last axis; once, without arguments, for rank 0 or 1.
template <class S, class Row, class... Index>
CASTNET_ALWAYS_INLINE void for_each_row(Row const& row, Index... index) {
    if constexpr (sizeof...(Index) + 1 >= S::rank) {
        row(index...);
    } else {
        for (size_t i = 0; i < S::extent[sizeof...(Index)]; ++i) {
            for_each_row<S>(row, index..., i);
        }
    }
}

// Calls body(i0, …) for every index, the last axis fastest.
template <class S, class Body, class... Index>
CASTNET_ALWAYS_INLINE void for_each_index(Body const& body, Index... index) {
    if constexpr (sizeof...(Index) == S::rank) {
        body(index...);
    } else {
        for (size_t i = 0; i < S::extent[sizeof...(Index)]; ++i) {
            for_each_index<S>(body, index..., i);
        }
    }
}

// The same of a few indices, without loops. (GCC keeps them at -O2.)
template <class S, class Body, class... Index>
CASTNET_ALWAYS_INLINE void for_each_of_few(Body const& body, Index... index) {
    if constexpr (sizeof...(Index) == S::rank) {
        body(index...);
    } else {
        CASTNET_UNROLL
        for (size_t i = 0; i < S::extent[sizeof...(Index)]; ++i) {
            for_each_of_few<S>(body, index..., i);
        }
    }
}

} // namespace castnet::detail
