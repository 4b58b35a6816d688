// Accumulators of reductions. Each holds `result`, the type of its answer;
// `add`, which takes an element and its position in the reduced part; and `get`, the answer for
// `count` elements. Sums of floating type run in double.
#pragma once

#include <castnet/core/shape.hpp>

#include <cstdint>
#include <type_traits>

namespace castnet::detail {

template <class T>
using integral_sum =
    std::conditional_t<std::is_signed_v<T> || std::is_same_v<T, bool>, std::int64_t, std::uint64_t>;

template <class T>
using sum_result = std::conditional_t<std::is_integral_v<T>, integral_sum<T>, T>;

// long double stays as it is
template <class T>
using sum_accumulator =
    std::conditional_t<std::is_integral_v<T>, integral_sum<T>, decltype(T{} + double{})>;

template <class T>
struct sum_reduction {
    using result = sum_result<T>;
    sum_accumulator<T> total{0};
    void add(T x, size_t) { total += static_cast<sum_accumulator<T>>(x); }
    result get(size_t) const { return static_cast<result>(total); }
};

template <class T>
struct mean_reduction {
    using result = std::conditional_t<std::is_integral_v<T>, double, T>;
    decltype(T{} + double{}) total{0};
    void add(T x, size_t) { total += static_cast<decltype(total)>(x); }
    result get(size_t count) const {
        return static_cast<result>(total / static_cast<decltype(total)>(count));
    }
};

template <class T>
struct product_reduction {
    using result = sum_result<T>;
    sum_accumulator<T> product{1};
    void add(T x, size_t) { product *= static_cast<sum_accumulator<T>>(x); }
    result get(size_t) const { return static_cast<result>(product); }
};

// The first largest (Sign 1) or smallest (Sign -1) element and where it is; a NaN beats numbers.
template <class T, int Sign>
struct extremum {
    T best{};
    size_t place = 0;
    void add(T x, size_t position) {
        bool const beats = (Sign > 0 ? best < x : x < best) || (x != x && best == best);
        if (position == 0 || beats) {
            best = x;
            place = position;
        }
    }
};

template <class T, int Sign>
struct extreme_value : extremum<T, Sign> {
    using result = T;
    result get(size_t) const { return this->best; }
};

template <class T, int Sign>
struct extreme_place : extremum<T, Sign> {
    using result = size_t;
    result get(size_t) const { return this->place; }
};

} // namespace castnet::detail
