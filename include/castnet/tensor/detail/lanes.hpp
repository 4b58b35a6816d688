// Vectors of a number of lanes, whatever the target's registers hold, and how lanes are joined.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/core/target.hpp>
#include <castnet/cpu/vector.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace castnet::detail::inline CASTNET_VECTORS {

// Types that lie in vectors; others have plain loops.
template <class T>
concept InVectors = std::same_as<T, float> || std::same_as<T, double>;

template <class T, size_t N>
struct lanes {
    using bits = std::conditional_t<sizeof(T) == sizeof(std::int32_t), std::int32_t, std::int64_t>;
    typedef T type __attribute__((vector_size(N * sizeof(T))));
    typedef bits mask __attribute__((vector_size(N * sizeof(T)))); // -1 or 0 for each lane
    // as it lies in memory
    typedef T stored __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T)), may_alias));
};

// A vector of 64 bytes in registers: g++ keeps wider ones in memory, and compares them number by
// number.
template <class T>
struct in_registers {
    using stored = cpu::vec<T>;
    typedef T type __attribute__((vector_size(sizeof(stored))));
    using mask = decltype(type{} == type{});
    static constexpr size_t parts = 64 / sizeof(stored);
};

// The halves of a vector. (nvcc does not know packs in __builtin_shufflevector.)
template <size_t Lanes, class Vector, class Half>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE void halve(Vector const& x, Half& lower, Half& upper) {
    if constexpr (Lanes == 16) {
        lower = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7);
        upper = __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
    } else if constexpr (Lanes == 8) {
        lower = __builtin_shufflevector(x, x, 0, 1, 2, 3);
        upper = __builtin_shufflevector(x, x, 4, 5, 6, 7);
    } else {
        static_assert(Lanes == 4);
        lower = __builtin_shufflevector(x, x, 0, 1);
        upper = __builtin_shufflevector(x, x, 2, 3);
    }
}

// Joins the lanes of a vector to one, lane j with lane j + Lanes / 2 first: join(to, by).
template <class T, size_t Lanes, class Vector, class Join>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE T join_lanes(Vector const& all, Join const& join) {
    Vector x = all;
    if constexpr (Lanes > 16 / sizeof(T)) {
        typename lanes<T, Lanes / 2>::type lower, upper;
        halve<Lanes>(x, lower, upper);
        join(lower, upper);
        return join_lanes<T, Lanes / 2>(lower, join);
    } else if constexpr (Lanes == 4) {
        join(x, __builtin_shufflevector(x, x, 2, 3, 2, 3));
        join(x, __builtin_shufflevector(x, x, 1, 1, 1, 1));
        return x[0];
    } else {
        static_assert(Lanes == 2);
        join(x, __builtin_shufflevector(x, x, 1, 1));
        return x[0];
    }
}

// Joins the lanes of a vector to fewer, in that order.
template <class T, size_t To, class Vector, class Join>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE auto join_to(Vector const& x, Join const& join) {
    constexpr size_t count = sizeof(Vector) / sizeof(T);
    if constexpr (count == To) {
        return x;
    } else {
        typename lanes<T, count / 2>::type lower, upper;
        halve<count>(x, lower, upper);
        join(lower, upper);
        return join_to<T, To>(lower, join);
    }
}

// Joins all lanes of as many vectors as they have lanes, two or four: lane j of the result is that
// of vector j. In the order of join_lanes.
template <class T, size_t Lanes, class Vector, class Join>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE Vector join_each(Vector const* x, Join const& join) {
    if constexpr (Lanes == 4) {
        Vector first = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
        Vector second = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
        join(first, __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7));
        join(second, __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7));
        Vector all = __builtin_shufflevector(first, second, 0, 1, 4, 5);
        join(all, __builtin_shufflevector(first, second, 2, 3, 6, 7));
        return all;
    } else {
        static_assert(Lanes == 2);
        Vector all = __builtin_shufflevector(x[0], x[1], 0, 2);
        join(all, __builtin_shufflevector(x[0], x[1], 1, 3));
        return all;
    }
}

// The same of all lanes of some vectors, which it changes.
template <class T, size_t Parts, class Vector, class Join>
CASTNET_WIDE_VECTORS CASTNET_ALWAYS_INLINE T join_parts(Vector* x, Join const& join) {
    if constexpr (Parts > 1) {
        CASTNET_UNROLL
        for (size_t p = 0; p < Parts / 2; ++p) {
            join(x[p], x[p + Parts / 2]);
        }
        return join_parts<T, Parts / 2>(x, join);
    } else {
        return join_lanes<T, sizeof(Vector) / sizeof(T)>(x[0], join);
    }
}

// The magnitudes of a number, or of the lanes of a vector.
template <class V>
[[gnu::always_inline]] CASTNET_WIDE_VECTORS inline V magnitude(V const& x) {
    if constexpr (std::is_floating_point_v<V>) {
        return std::fabs(x);
    } else {
        using bits = decltype(x < x);
        using number = std::remove_cvref_t<decltype(bits{}[0])>;
        return __builtin_bit_cast(V, __builtin_bit_cast(bits, x) &
                                         std::numeric_limits<number>::max()); // but for the sign
    }
}

// Functions that join two vectors into the first one. (No lambdas: nvcc 13.0 defines them twice.)
struct add_to {
    template <class To, class By>
    [[gnu::always_inline]] CASTNET_WIDE_VECTORS void operator()(To& to, By const& by) const {
        to += by;
    }
};
inline constexpr add_to plus{};

struct multiply_with {
    template <class To, class By>
    [[gnu::always_inline]] CASTNET_WIDE_VECTORS void operator()(To& to, By const& by) const {
        to *= by;
    }
};
inline constexpr multiply_with multiplies{};

struct keep_common_bits {
    template <class To, class By>
    [[gnu::always_inline]] CASTNET_WIDE_VECTORS void operator()(To& to, By const& by) const {
        to &= by;
    }
};

// The larger one if Sign is 1, the smaller one if it is -1.
template <int Sign>
struct keep_extreme {
    template <class Best, class By>
    [[gnu::always_inline]] CASTNET_WIDE_VECTORS void operator()(Best& best, By const& by) const {
        best = (Sign > 0 ? best < by : by < best) ? by : best;
    }
};

} // namespace castnet::detail::inline CASTNET_VECTORS
