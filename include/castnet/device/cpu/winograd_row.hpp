// Winograd's transforms along one axis of a tile of two results, F(2, 3) and F(2, 2): four products
// give two results under a piece of three taps, three those under two taps, which does without the
// third point. The products of all pieces are added up before they are transformed back.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/device/cpu/winograd_tiling.hpp>

#include <cstddef>
#include <type_traits>

namespace castnet::cpu::inline CASTNET_TARGET {

// Transforms of one row or column of a tile, under a piece of so many taps.
template <int Taps, class T>
struct winograd_row;
template <class T>
struct winograd_row<3, T> {
    using v = vec<T>;
    static void image(v const (&x)[4], v (&to)[4]) {
        to[0] = x[0] - x[2];
        to[1] = x[1] + x[2];
        to[2] = x[2] - x[1];
        to[3] = x[1] - x[3];
    }
    static void weight(v const (&x)[3], v (&to)[4]) {
        v const ends = (x[0] + x[2]) * T(0.5), middle = x[1] * T(0.5);
        to[0] = x[0];
        to[1] = ends + middle;
        to[2] = ends - middle;
        to[3] = x[2];
    }
    static void result(v const (&x)[4], v (&to)[2]) {
        to[0] = x[0] + x[1] + x[2];
        to[1] = x[1] - x[2] - x[3];
    }
    static void weight_gradient(v const (&x)[4], v (&to)[3]) {
        to[0] = x[0] + x[1] + x[2];
        to[1] = x[1] - x[2];
        to[2] = x[1] + x[2] - x[3];
    }
};
template <class T>
struct winograd_row<2, T> {
    using v = vec<T>;
    static void image(v const (&x)[3], v (&to)[4]) {
        to[0] = x[0] - x[1];
        to[1] = x[1];
        to[3] = x[1] - x[2];
    }
    static void weight(v const (&x)[2], v (&to)[4]) {
        to[0] = x[0];
        to[1] = x[0] + x[1];
        to[3] = x[1];
    }
    static void result(v const (&x)[4], v (&to)[2]) {
        to[0] = x[0] + x[1];
        to[1] = x[1] - x[3];
    }
    static void weight_gradient(v const (&x)[4], v (&to)[2]) {
        v const twice = x[1] + x[1];
        to[0] = x[0] + twice;
        to[1] = twice - x[3];
    }
};
// Of the gradient by the weights: a result's gradient is a weight there, and taps are the result.
template <class T>
void winograd_gradient(vec<T> const& a, vec<T> const& b, vec<T> (&to)[4]) {
    to[0] = a;
    to[1] = (a + b) * T(0.5);
    to[2] = (a - b) * T(0.5);
    to[3] = b;
}

// Whether pieces of these taps have a place in a tile.
template <int Down, int Across>
constexpr bool has_place(int place) {
    return (Down == 3 || place / winograd_points != 2) &&
           (Across == 3 || place % winograd_points != 2);
}

template <int Taps>
using tap_count = std::integral_constant<int, Taps>;

// Calls f(taps down, taps across), both tap_counts; 3 unless windows are split.
template <bool Split, class F>
[[gnu::always_inline]] inline void with_taps(int down, int across, F const& f) {
    constexpr tap_count<2> two;
    constexpr tap_count<3> three;
    if constexpr (!Split) {
        f(three, three);
    } else if (down == 3) {
        across == 3 ? f(three, three) : f(three, two);
    } else {
        across == 3 ? f(two, three) : f(two, two);
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
