// Accumulator of a reduction for one result: takes values, merges with the accumulator of another
// part, returns the result.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/graph/node.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace castnet::ir {

template <reduction R, class T>
struct reducer;

template <class T>
inline constexpr T minus_infinity = -std::numeric_limits<T>::infinity();

template <class T>
struct reducer<reduction::sum, T> {
    T total = 0;
    CASTNET_HD void take(T x, std::ptrdiff_t) { total += x; }
    CASTNET_HD void join(reducer const& other) { total += other.total; }
    CASTNET_HD T result(T factor) const { return total * factor; }
};

template <class T>
struct reducer<reduction::max, T> {
    T best = minus_infinity<T>;
    CASTNET_HD void take(T x, std::ptrdiff_t) { best = x > best || x != x ? x : best; } // or NaN
    CASTNET_HD void join(reducer const& other) { take(other.best, 0); }
    CASTNET_HD T result(T) const { return best; }
};

// The first of the largest values.
template <class T>
struct reducer<reduction::argmax, T> {
    T best = minus_infinity<T>;
    std::ptrdiff_t where = 0;
    CASTNET_HD void take(T x, std::ptrdiff_t i) {
        if (x > best) {
            best = x;
            where = i;
        }
    }
    CASTNET_HD void join(reducer const& other) {
        if (other.best > best || (other.best == best && other.where < where)) {
            *this = other;
        }
    }
    CASTNET_HD T result(T) const { return static_cast<T>(where); }
};

// The value that is larger than all others; -1 for a tie or a NaN.
template <class T>
struct reducer<reduction::strict_argmax, T> {
    T best = minus_infinity<T>;
    std::ptrdiff_t where = -1;
    CASTNET_HD void take(T x, std::ptrdiff_t i) {
        if (x > best) {
            best = x;
            where = i;
        } else if (!(x < best)) {
            where = -1;
            best = x == best ? best : -minus_infinity<T>; // nothing is larger
        }
    }
    CASTNET_HD void join(reducer const& other) { take(other.best, other.where); }
    CASTNET_HD T result(T) const { return static_cast<T>(where); }
};

// Keeps sum(exp(x - best)), rescaled whenever a larger x comes.
// Equal values are not subtracted, since both may be -infinity.
template <class T>
struct reducer<reduction::log_sum_exp, T> {
    T best = minus_infinity<T>;
    T total = 0;
    CASTNET_HD void take(T x, std::ptrdiff_t) {
        if (x > best) {
            total = total * std::exp(best - x) + T(1);
            best = x;
        } else {
            total += x == best ? T(1) : std::exp(x - best);
        }
    }
    CASTNET_HD void join(reducer const& other) {
        if (other.best > best) {
            total = total * std::exp(best - other.best) + other.total;
            best = other.best;
        } else if (other.total != T(0)) { // otherwise it is empty
            total += other.total * (other.best == best ? T(1) : std::exp(other.best - best));
        }
    }
    CASTNET_HD T result(T) const { return best + std::log(total); }
};

// Reducers of different kinds, each for a result of its own.
template <int K, reduction R, class T>
struct numbered_reducer : reducer<R, T> {};
template <class T, class Numbers, reduction... R>
struct reducer_bundle;
template <class T, int... K, reduction... R>
struct reducer_bundle<T, std::integer_sequence<int, K...>, R...> : numbered_reducer<K, R, T>... {
    static constexpr bool is_bundle = true;

    CASTNET_HD void join(reducer_bundle const& other) {
        (..., static_cast<numbered_reducer<K, R, T>&>(*this).join(
                  static_cast<numbered_reducer<K, R, T> const&>(other)));
    }
    // Calls f(K as a type, the reducer of result K).
    template <class F>
    CASTNET_HD void each(F const& f) {
        (..., f(std::integral_constant<int, K>{}, static_cast<numbered_reducer<K, R, T>&>(*this)));
    }
    template <class F>
    CASTNET_HD void each(F const& f) const {
        (...,
         f(std::integral_constant<int, K>{}, static_cast<numbered_reducer<K, R, T> const&>(*this)));
    }
};

} // namespace castnet::ir
