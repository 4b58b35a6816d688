// Cumulative sums and, the other way round, differences of neighbours: cumsum(x), diff(x).
#pragma once

#include <castnet/graph/emit.hpp>
#include <castnet/graph/op/cumulative_sum.hpp>
#include <castnet/nn/along_axis.hpp>

namespace castnet {

template <class S>
inline constexpr bool has_sums_so_far = S::rank > 0 && !channels_first<S>;

// The sums of the elements so far along the last axis.
template <class S>
constexpr symbol<S> cumsum(symbol<S> x) {
    static_assert(has_sums_so_far<S>, "castnet: cumsum needs a last axis, and no image; see "
                                      "has_sums_so_far<shape>");
    if constexpr (has_sums_so_far<S>) {
        return detail::emit_operation<op::cumulative_sum, S>(*x.g, 1, {detail::array_id(x)});
    } else {
        return x;
    }
}

template <class S, size_t Axis>
inline constexpr bool has_neighbours = Axis < S::rank && S::extent[Axis < S::rank ? Axis : 0] > 1;

// The differences of neighbours along an axis, by default the last one.
template <size_t Axis, class S>
constexpr auto diff(symbol<S> x) {
    static_assert(has_neighbours<S, Axis>,
                  "castnet: diff needs an axis of the tensor with two elements at least; see "
                  "has_neighbours<shape, axis>");
    if constexpr (has_neighbours<S, Axis>) {
        constexpr size_t count = S::extent[Axis];
        return slice<Axis, 1, count>(x) - slice<Axis, 0, count - 1>(x);
    } else {
        return x;
    }
}
template <class S>
constexpr auto diff(symbol<S> x) {
    return diff < S::rank == 0 ? 0 : S::rank - 1 > (x);
}

} // namespace castnet
