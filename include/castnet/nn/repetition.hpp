// Repetition of elements: broadcast_to, repeat_vector, repeat_interleave, tile.
#pragma once

#include <castnet/graph/symbol_operators.hpp>
#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/reshape.hpp>

#include <type_traits>
#include <utility>

namespace castnet {

template <class From, class To>
inline constexpr bool can_broadcast_to =
    From::rank <= To::rank && shapes_agree<From, To> && orders_agree<From, To> &&
    std::is_same_v<To, decltype(detail::broadcast_shape<From, To>(
                           std::make_index_sequence<To::rank>{}))>;

// The tensor repeated along new axes in front and along axes of one element: a vector of features
// becomes a sequence of equal steps (PyTorch's expand).
template <size_t... Extents, class S>
constexpr auto broadcast_to(symbol<S> x) {
    using result =
        detail::shape_in<channels_first<S> ? memory_order::channels_last : memory_order::row_major,
                         Extents...>;
    static_assert(can_broadcast_to<S, result>,
                  "castnet: broadcast_to: a tensor is repeated along axes that it does not have or "
                  "that have one element; see can_broadcast_to<shape found, shape wanted>");
    if constexpr (can_broadcast_to<S, result>) {
        return detail::map_broadcast<fn::add, result>(*x.g, x, 0);
    } else {
        return x;
    }
}

template <class S, size_t Times>
inline constexpr bool becomes_steps = S::rank == 1 && Times > 0;

// A sequence of so many steps, each of which is the vector: what an encoder has read, for a decoder
// (Keras' RepeatVector).
template <size_t Times>
struct repeat_vector_layer {
    static constexpr char const* name = "repeat_vector";
    template <Shape S>
    constexpr auto operator()(symbol<S> x) const {
        static_assert(
            becomes_steps<S, Times>,
            "castnet: repeat_vector needs a vector (features), and at least one step; see "
            "becomes_steps<input shape, steps>");
        if constexpr (becomes_steps<S, Times>) {
            return broadcast_to<Times, S::count>(x);
        } else {
            return x;
        }
    }
};
template <size_t Times>
inline constexpr repeat_vector_layer<Times> repeat_vector{};

namespace detail {

// Each part of `Part` elements, in their logical order, repeated `Times` times.
template <size_t Times, size_t Part, class To, class S>
constexpr symbol<To> repeat_parts(symbol<S> x) {
    constexpr size_t parts = S::count / Part;
    auto const apart = reshaped(x, row_major_shape<parts, 1, Part>{});
    return reshaped(broadcast_to<parts, Times, Part>(apart), To{});
}

// How many elements stand at each position of the axes before this one.
template <class S, size_t Axis>
inline constexpr size_t elements_from = [] {
    size_t count = 1;
    for (size_t i = Axis; i < S::rank; ++i) {
        count *= S::extent[i];
    }
    return count;
}();

template <size_t Axis, size_t Times, size_t... More, class S>
constexpr auto tile_from(symbol<S> x) {
    using longer = resized<S, Axis, Times * S::extent[Axis]>;
    auto const tiled = repeat_parts<Times, elements_from<S, Axis>, longer>(x);
    if constexpr (sizeof...(More) > 0) {
        return tile_from<Axis + 1, More...>(tiled);
    } else {
        return tiled;
    }
}

} // namespace detail

template <size_t Times>
inline constexpr bool repeats_at_least_once = Times > 0;
template <class S, size_t... Times>
inline constexpr bool tiles_every_axis = sizeof...(Times) == S::rank && S::rank > 0 &&
                                         ((Times > 0) && ...);

// Each position of an axis `Times` times in a row (PyTorch's repeat_interleave), such as the heads
// of keys and values that several heads of queries share.
template <size_t Axis, size_t Times, class S>
constexpr auto repeat_interleave(symbol<S> x) {
    static_assert(tensor_has_axis<S, Axis>, "castnet: repeat_interleave: the tensor has no such "
                                            "axis; see tensor_has_axis<shape, axis>");
    static_assert(repeats_at_least_once<Times>, "castnet: repeat_interleave repeats at least once");
    if constexpr (tensor_has_axis<S, Axis> && repeats_at_least_once<Times>) {
        using longer = detail::resized<S, Axis, Times * S::extent[Axis]>;
        return detail::repeat_parts<Times, detail::elements_from<S, Axis + 1>, longer>(x);
    } else {
        return x;
    }
}

// Copies of the tensor side by side, as many along each axis as its number says (numpy.tile).
template <size_t... Times, class S>
constexpr auto tile(symbol<S> x) {
    static_assert(tiles_every_axis<S, Times...>,
                  "castnet: tile needs a number, at least 1, for "
                  "each axis; see tiles_every_axis<shape, times...>");
    if constexpr (tiles_every_axis<S, Times...>) {
        return detail::tile_from<0, Times...>(x);
    } else {
        return x;
    }
}

} // namespace castnet
