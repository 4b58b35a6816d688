// Largest elements along the last axis and their positions: largest<count>(x).
#pragma once

#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/tensor/order.hpp>

#include <limits>
#include <utility>

namespace castnet {

template <class S, size_t Count>
inline constexpr bool has_largest =
    S::rank > 0 && !channels_first<S> && Count > 0 && Count <= channels_of<S>;

// The largest elements along the last axis and their positions, in descending order; of equal
// elements, the first comes first (torch.topk): auto const [values, indices] = largest<2>(x).
// Derivatives treat the positions as constants. Each element costs a pass over the axis.
template <size_t Count, class S>
constexpr auto largest(symbol<S> x) {
    static_assert(has_largest<S, Count>,
                  "castnet: largest needs at least one element and no more than the last axis has, "
                  "of a tensor that is no image; see has_largest<shape, count>");
    if constexpr (has_largest<S, Count>) {
        using one = with_channels<S, 1>;
        auto const numbers = channel_index<shape<channels_of<S>>>(*x.g);
        // Elements that have been found become less than all others, even than infinite ones.
        auto rest = maximum(stop_gradient(x), std::numeric_limits<float>::lowest());
        symbol<one> values[Count], places[Count];
        for (size_t k = 0; k < Count; ++k) {
            places[k] = reshaped(argmax_channels(rest), one{});
            auto const found = equal(numbers, places[k]);
            values[k] = reshaped(sum_channels(where(found, x, 0)), one{});
            rest = where(found, -std::numeric_limits<double>::infinity(), rest);
        }
        return [&]<size_t... K>(std::index_sequence<K...>) {
            if constexpr (Count == 1) {
                return largest_values<symbol<one>, symbol<one>>{values[0], places[0]};
            } else {
                using all = symbol<with_channels<S, Count>>;
                return largest_values<all, all>{concat(values[K]...), concat(places[K]...)};
            }
        }(std::make_index_sequence<Count>{});
    } else {
        return largest_values<symbol<S>, symbol<S>>{x, x};
    }
}

} // namespace castnet
