// Neighbours on the last axis of an expression, as an array.
#pragma once

#include <castnet/tensor/detail/operand.hpp>
#include <castnet/tensor/detail/store.hpp>
#include <castnet/tensor/views.hpp>

#include <utility>

namespace castnet::detail {

// Whether neighbours on the last axis lie in memory as neighbours.
template <class X>
constexpr bool lies_in_runs() {
    if constexpr (!requires { typename X::strides_type; }) {
        return false;
    } else {
        constexpr size_t rank = X::shape_type::rank;
        return X::is_flat || X::strides_type::step[rank > 0 ? rank - 1 : 0] == 1;
    }
}
template <class X>
inline constexpr bool is_in_memory = lies_in_runs<X>();

// Count elements of an expression along the last axis, as an array: where they lie, or in `room`.
template <size_t Count, class S, class X, class T, class... Index>
CASTNET_ALWAYS_INLINE T const* elements_at(X const& x, T* room, size_t begin, Index... index) {
    if constexpr (X::is_flat) {
        using steps = row_major<S>;
        auto const at = [&]<size_t... Axis>(std::index_sequence<Axis...>) {
            return ((index * steps::step[Axis]) + ... + begin);
        }(std::index_sequence_for<Index...>{});
        if constexpr (requires { x.data(); }) {
            return x.data() + at;
        } else {
            store_for_vectors<cost_of<X>, Count>(
                room, [&](size_t i) __attribute__((always_inline)) { return x.flat(at + i); });
            return room;
        }
    } else {
        if constexpr (requires { x.data(); }) {
            if constexpr (X::strides_type::step[S::rank - 1] == 1) {
                return &x.element(index..., begin);
            }
        }
        store_for_vectors<cost_of<X>, Count>(room, [&](size_t i) __attribute__((always_inline)) {
            return x.element(index..., begin + i);
        });
        return room;
    }
}

} // namespace castnet::detail
