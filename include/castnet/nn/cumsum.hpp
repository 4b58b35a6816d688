// Cumulative sums: cumsum(x).
#pragma once

#include <castnet/graph/emit.hpp>
#include <castnet/graph/op/cumulative_sum.hpp>

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

} // namespace castnet
