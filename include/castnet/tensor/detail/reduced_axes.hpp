// Axes of a reduction: those that stay, those that go, and how loops see them.
#pragma once

#include <castnet/core/shape.hpp>

#include <utility>

namespace castnet::detail {

template <size_t... Axes>
constexpr bool is_one_of(size_t axis) {
    return ((axis == Axes) || ...);
}

// The kept part has extent 1 on the reduced axes; the reduced part has extent 1 on all others.
template <class S, bool Reduced, size_t... Axes, size_t... I>
auto part_of(std::index_sequence<Axes...>, std::index_sequence<I...>)
    -> shape<(is_one_of<Axes...>(I) == Reduced ? S::extent[I] : 1)...>;

template <class S>
struct drop_axes {
    template <size_t Axis, size_t... D>
    static auto front(shape<D...>) -> shape<S::extent[Axis], D...>;

    template <size_t Axis, size_t... Axes>
    static constexpr auto from() {
        if constexpr (Axis == S::rank) {
            return shape<>{};
        } else if constexpr (is_one_of<Axes...>(Axis)) {
            return from<Axis + 1, Axes...>();
        } else {
            return decltype(front<Axis>(from<Axis + 1, Axes...>())){};
        }
    }
};

// The axes of S as loops see them: kept and reduced ones, and where the elements are counted in
// memory order, neighbours of a kind as one.
template <class S, bool Flat, size_t... Axes>
struct folded_axes {
    size_t rank = 0;
    size_t extent[S::rank + 1] = {};
    bool reduced[S::rank + 1] = {};

    constexpr folded_axes() {
        for (size_t axis = 0; axis != S::rank; ++axis) {
            bool const kind = is_one_of<Axes...>(axis);
            if (Flat && rank > 0 && reduced[rank - 1] == kind) {
                extent[rank - 1] *= S::extent[axis];
            } else {
                extent[rank] = S::extent[axis];
                reduced[rank++] = kind;
            }
        }
        if (rank == 0) { // one element
            extent[rank] = 1;
            reduced[rank++] = true;
        }
    }
};
template <class S, bool Flat, size_t... Axes>
inline constexpr folded_axes<S, Flat, Axes...> folded;

// Their shape; that of one kind has extent 1 for the other.
template <class S, bool Flat, size_t... Axes, size_t... I>
auto folded_shape(std::index_sequence<Axes...>, std::index_sequence<I...>)
    -> shape<folded<S, Flat, Axes...>.extent[I]...>;
template <class S, bool Flat, bool Reduced, size_t... Axes, size_t... I>
auto folded_part(std::index_sequence<Axes...>, std::index_sequence<I...>)
    -> shape<(folded<S, Flat, Axes...>.reduced[I] == Reduced ? folded<S, Flat, Axes...>.extent[I]
                                                             : 1)...>;

} // namespace castnet::detail
