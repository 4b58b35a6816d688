// Reversal of axes in memory, from both ends at once, so that an array can be reversed in its
// place: in vectors, which are turned around in registers where positions are shorter.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/target.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/tensor/detail/reduced_axes.hpp>
#include <castnet/tensor/detail/store.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace castnet::detail::inline CASTNET_VECTORS {

// An unsigned number of as many bits as T, for vectors.
template <class T>
using bits_of_number = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

// The longest vectors, in bytes, in which T change places in few instructions, or 0.
template <class T>
inline constexpr size_t most_exchanged_bytes =
#if defined(__SSSE3__) || defined(__ARM_NEON)
    cpu::vector_bytes;
#else
    sizeof(T) < 4 ? 0 : cpu::vector_bytes;
#endif

// The lane of two vectors, one after the other, that takes the place of one of `front`: of the last
// groups of `back`, in reversed order, as many as fill it; and of one of `back`.
constexpr int lane_for_front(int lane, int lanes, int group) {
    return lane < lanes / group * group ? 2 * lanes - (lane / group + 1) * group + lane % group
                                        : lane;
}
constexpr int lane_for_back(int lane, int lanes, int group) {
    return 2 * lanes - 1 - lane_for_front(lanes - 1 - lane, lanes, group);
}

// Exchanges the groups of two vectors of numbers. (No lambda: nvcc 13.0 crashes.)
template <int Group, class Bits, int Lanes, int... Lane>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline void
exchange_groups(typename cpu::vector_of<Bits, Lanes>::type& front,
                typename cpu::vector_of<Bits, Lanes>::type& back,
                std::integer_sequence<int, Lane...>) {
    using vector = typename cpu::vector_of<Bits, Lanes>::type;
    vector const a = front, b = back;
    front = vector{(lane_for_front(Lane, Lanes, Group) < Lanes
                        ? a[lane_for_front(Lane, Lanes, Group) % Lanes]
                        : b[lane_for_front(Lane, Lanes, Group) % Lanes])...};
    back = vector{(lane_for_back(Lane, Lanes, Group) < Lanes
                       ? a[lane_for_back(Lane, Lanes, Group) % Lanes]
                       : b[lane_for_back(Lane, Lanes, Group) % Lanes])...};
}

// to = from with its groups in reversed order, of Count elements. Vectors of Bytes exchange groups
// as long as two fit in, then shorter ones.
template <size_t Count, size_t Group, size_t Bytes, class T>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void reverse_groups(T const* from, T* to) {
    constexpr size_t lanes = Bytes / sizeof(T);
    if constexpr (Bytes < 16 || lanes < 8 || lanes < 2 * Group) {
        constexpr size_t half = Count / Group / 2 * Group;
        for (size_t i = 0; i != half; ++i) {
            size_t const j = Count - (i / Group + 1) * Group + i % Group;
            T const front = from[i], back = from[j];
            to[i] = back;
            to[j] = front;
        }
        for (size_t i = half; i != Count - half; ++i) {
            to[i] = from[i];
        }
    } else {
        constexpr int count = static_cast<int>(lanes), group = static_cast<int>(Group);
        constexpr size_t used = lanes / Group * Group;
        constexpr size_t pairs = Count < 2 * lanes ? 0 : (Count - 2 * lanes) / (2 * used) + 1;
        constexpr size_t done = pairs * used, rest = Count - 2 * done;
        using vector = typename cpu::vector_of<bits_of_number<T>, count>::type;
        for (size_t i = 0; i != done; i += used) {
            size_t const j = Count - lanes - i;
            vector front = *reinterpret_cast<vector const*>(from + i);
            vector back = *reinterpret_cast<vector const*>(from + j);
            exchange_groups<group, bits_of_number<T>, count>(
                front, back, std::make_integer_sequence<int, count>{});
            *reinterpret_cast<vector*>(to + i) = front;
            *reinterpret_cast<vector*>(to + j) = back;
        }
        if constexpr (rest > 0) {
            reverse_groups<rest, Group, Bytes / 2>(from + done, to + done);
        }
    }
}

// Exchanges two runs of Count elements, which are written elsewhere or where they are: in vectors
// of Bytes, then in shorter ones.
template <size_t Count, size_t Bytes = cpu::vector_bytes, class T>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void exchange_runs(T const* first, T const* second,
                                                              T* to_first, T* to_second) {
    if constexpr (Bytes < 16) {
        for (size_t i = 0; i != Count; ++i) {
            T const a = first[i], b = second[i];
            to_first[i] = b;
            to_second[i] = a;
        }
    } else {
        constexpr size_t lanes = Bytes / sizeof(T), rest = Count % lanes, done = Count - rest;
        using vector = typename cpu::vector_of<bits_of_number<T>, static_cast<int>(lanes)>::type;
        for (size_t i = 0; i != done; i += lanes) {
            vector const a = *reinterpret_cast<vector const*>(first + i);
            vector const b = *reinterpret_cast<vector const*>(second + i);
            *reinterpret_cast<vector*>(to_first + i) = b;
            *reinterpret_cast<vector*>(to_second + i) = a;
        }
        if constexpr (rest > 0) {
            exchange_runs<rest, Bytes / 2>(first + done, second + done, to_first + done,
                                           to_second + done);
        }
    }
}

// to = from with the Extent positions of an axis in reversed order, of Inner elements each. In
// place where both are one.
template <bool InPlace, size_t Extent, size_t Inner, class T>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void reverse_axis(T const* from, T* to) {
    constexpr size_t bytes = most_exchanged_bytes<T>, end = Extent * Inner;
    if constexpr (Inner == 1 && !InPlace) {
        store<element_cost::high, Extent>(to, [&](size_t i) { return from[Extent - 1 - i]; });
    } else if constexpr (2 * Inner * sizeof(T) <= bytes) {
        reverse_groups<end, Inner, bytes>(from, to);
    } else {
        for (size_t i = 0; i != Extent / 2 * Inner; i += Inner) {
            size_t const j = end - Inner - i;
            exchange_runs<Inner>(from + i, from + j, to + i, to + j);
        }
        if constexpr (Extent % 2 == 1 && !InPlace) {
            constexpr size_t middle = Extent / 2 * Inner;
            std::copy_n(from + middle, Inner, to + middle);
        }
    }
}

// The axes of S that are reversed, from the last one on: neighbours, and those of one element
// between them, are one. Of each its extent and what its positions have.
template <class S, size_t... Axes>
struct reversed_axes {
    size_t count = 0;
    size_t extent[S::rank + 1] = {}, inner[S::rank + 1] = {};

    constexpr reversed_axes() {
        bool continues = false;
        size_t step = 1;
        for (size_t axis = S::rank; axis-- > 0; step *= S::extent[axis]) {
            if (S::extent[axis] > 1) {
                bool const reverses = is_one_of<Axes...>(axis);
                if (reverses && !continues) {
                    extent[count] = 1;
                    inner[count++] = step;
                }
                if (reverses) {
                    extent[count - 1] *= S::extent[axis];
                }
                continues = reverses;
            }
        }
    }
};

// to = from with these axes in reversed order, from number First of them on.
template <bool InPlace, class Axes, size_t First = 0, class T>
CASTNET_WIDE_VECTORS void reverse_axes(T const* from, T* to, size_t count) {
    constexpr Axes axes;
    if constexpr (First < axes.count) {
        constexpr size_t extent = axes.extent[First], inner = axes.inner[First];
        for (size_t begin = 0; begin != count; begin += extent * inner) {
            reverse_axis<InPlace, extent, inner>(from + begin, to + begin);
        }
        reverse_axes<true, Axes, First + 1>(to, to, count);
    } else if constexpr (!InPlace) {
        std::copy_n(from, count, to);
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
