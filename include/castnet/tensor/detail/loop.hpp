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

// Calls body(i) for i < Count, a few, without a loop. (GCC keeps it at -O2, and unrolls it only
// when it has decided which functions are small enough to be inlined.)
template <size_t Count, class Body>
CASTNET_ALWAYS_INLINE void for_few(Body const& body) {
    if constexpr (Count <= 4) {
        [&]<size_t... I>(std::index_sequence<I...>)
            __attribute__((always_inline)) { (body(I), ...); }(std::make_index_sequence<Count>{});
    } else {
        CASTNET_UNROLL
        for (size_t i = 0; i < Count; ++i) {
            body(i);
        }
    }
}

// Calls body(i0, …) for every index of a few.
template <class S, class Body, class... Index>
CASTNET_ALWAYS_INLINE void for_each_of_few(Body const& body, Index... index) {
    if constexpr (sizeof...(Index) == S::rank) {
        body(index...);
    } else {
        for_few<S::extent[sizeof...(Index)]>([&](size_t i) __attribute__((always_inline)) {
            for_each_of_few<S>(body, index..., i);
        });
    }
}

} // namespace castnet::detail
