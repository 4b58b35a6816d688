// NumPy's broadcasting rule while compiling: shapes are aligned at their last axes, missing axes
// count as 1, and extents agree where they are equal or one of them is 1.
#pragma once

#include <castnet/core/shape.hpp>

#include <utility>

namespace castnet {

namespace detail {

template <class S>
constexpr size_t extent_from_last(size_t axis) {
    return axis + 1 <= S::rank ? S::extent[S::rank - 1 - axis] : 1;
}

template <class A, class B>
constexpr size_t broadcast_rank = A::rank > B::rank ? A::rank : B::rank;

template <class A, class B>
constexpr bool shapes_agree() {
    for (size_t axis = 0; axis != broadcast_rank<A, B>; ++axis) {
        size_t const a = extent_from_last<A>(axis);
        size_t const b = extent_from_last<B>(axis);
        if (a != b && a != 1 && b != 1) {
            return false;
        }
    }
    return true;
}

template <class Left, class Right>
inline constexpr bool can_broadcast = shapes_agree<Left, Right>();

template <class A, class B>
constexpr size_t broadcast_extent(size_t axis) {
    size_t const from_last = broadcast_rank<A, B> - 1 - axis;
    size_t const a = extent_from_last<A>(from_last);
    size_t const b = extent_from_last<B>(from_last);
    return a > b ? a : b;
}

template <class... S>
struct broadcast {
    using type = shape<>;
};

template <class S>
struct broadcast<S> {
    using type = S;
};

template <class A, class B, class... More>
struct broadcast<A, B, More...> {
    static_assert(can_broadcast<A, B>,
                  "castnet: the shapes of two tensors do not fit together: from the last axis on, "
                  "extents must be equal or one of them 1");

    template <size_t... Axis>
    static auto join(std::index_sequence<Axis...>) -> shape<broadcast_extent<A, B>(Axis)...>;

    using pair = decltype(join(std::make_index_sequence<broadcast_rank<A, B>>{}));
    using type = typename broadcast<pair, More...>::type;
};

} // namespace detail

// The shape that tensors of these shapes have together.
template <Shape... S>
using broadcast_t = typename detail::broadcast<S...>::type;

// Whether a tensor of shape From can be read as one of shape To.
template <class From, class To>
inline constexpr bool broadcasts_to = false;
template <Shape From, Shape To>
    requires(From::rank <= To::rank && detail::can_broadcast<From, To>)
inline constexpr bool broadcasts_to<From, To> = std::is_same_v<broadcast_t<From, To>, To>;

} // namespace castnet
