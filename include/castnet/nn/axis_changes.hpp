// Changes of axes: their order (transpose), direction (flip) and number (expand_dims, squeeze,
// select).
#pragma once

#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/axis_reductions.hpp>
#include <castnet/nn/permute.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/tensor/detail/checks.hpp>

#include <utility>

namespace castnet {

// transpose(x) reverses the axes; transpose<2, 0, 1>(x) makes axis 2 the first, 0 the second, ….
template <size_t... Axes, class S>
constexpr auto transpose(symbol<S> x) {
    if constexpr (sizeof...(Axes) > 0) {
        return permute<Axes...>(x);
    } else {
        return [&]<size_t... I>(std::index_sequence<I...>) {
            return permute<(S::rank - 1 - I)...>(x);
        }(std::make_index_sequence<S::rank>{});
    }
}

// The elements along these axes from the last to the first.
template <size_t Axis, size_t... More, class S>
constexpr auto flip(symbol<S> x) {
    static_assert(detail::are_distinct<Axis, More...>(),
                  "castnet: flip takes each axis once: two reversals leave it as it is");
    if constexpr (sizeof...(More) > 0) {
        return flip<More...>(reverse<Axis>(x));
    } else {
        return reverse<Axis>(x);
    }
}

template <class S, size_t Axis>
inline constexpr bool can_add_axis = Axis <= S::rank && !channels_first<S>;

// The tensor with a new axis of extent 1 at position Axis.
template <size_t Axis, class S>
constexpr auto expand_dims(symbol<S> x) {
    static_assert(can_add_axis<S, Axis>,
                  "castnet: expand_dims: the new axis must be at most the rank of the tensor, "
                  "which must not be an image; see can_add_axis<shape, axis>");
    if constexpr (can_add_axis<S, Axis>) {
        return reshaped(
            x, decltype(detail::with_axis<S, Axis, 1>(std::make_index_sequence<S::rank + 1>{})){});
    } else {
        return x;
    }
}

template <class S, size_t Axis>
inline constexpr bool can_squeeze_axis = false;
template <class S, size_t Axis>
    requires(Axis < S::rank)
inline constexpr bool can_squeeze_axis<S, Axis> = S::extent[Axis] == 1 && !channels_first<S>;

// The tensor without an axis, whose extent must be 1.
template <size_t Axis, class S>
constexpr auto squeeze(symbol<S> x) {
    static_assert(can_squeeze_axis<S, Axis>,
                  "castnet: squeeze: only an axis of extent 1 can be squeezed, and not of an "
                  "image; see can_squeeze_axis<shape, axis>");
    if constexpr (can_squeeze_axis<S, Axis>) {
        return reshaped(x, decltype(detail::kept_shape<S>(detail::some_axes<S, false, Axis>())){});
    } else {
        return x;
    }
}

// The part at position i of an axis, which disappears.
template <size_t Axis, class S>
constexpr auto select(symbol<S> x, size_t i) {
    static_assert(!channels_first<S> || Axis == 0,
                  "castnet: select takes a channel of an image, select<0>(x, i), not a row or a "
                  "column: crop2d takes these");
    x.g->expect(i < S::extent[Axis], mistake::position_beyond_axis);
    using result = decltype(detail::kept_shape<S>(detail::some_axes<S, false, Axis>()));
    return detail::on_rows<op::slice, Axis, result>(x, i);
}

} // namespace castnet
