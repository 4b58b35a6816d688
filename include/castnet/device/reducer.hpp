// The state of a reduction for one result: takes values one by one, joins with the state of another
// part, and says the result.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/graph/node.hpp>

#include <cmath>
#include <cstddef>
#include <limits>

namespace castnet {

template <reduction R, class T>
struct reducer;

namespace detail {
template <class T>
inline constexpr T minus_infinity = -std::numeric_limits<T>::infinity();
}

template <class T>
struct reducer<reduction::sum, T> {
    T total = 0;
    CASTNET_HD void take(T x, std::ptrdiff_t) { total += x; }
    CASTNET_HD void join(reducer const& other) { total += other.total; }
    CASTNET_HD T result(T factor) const { return total * factor; }
};

template <class T>
struct reducer<reduction::max, T> {
    T best = detail::minus_infinity<T>;
    CASTNET_HD void take(T x, std::ptrdiff_t) { best = x > best ? x : best; }
    CASTNET_HD void join(reducer const& other) { take(other.best, 0); }
    CASTNET_HD T result(T) const { return best; }
};

// The first of several that are largest.
template <class T>
struct reducer<reduction::argmax, T> {
    T best = detail::minus_infinity<T>;
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

// The one that is larger than all others; -1 at a tie, and where one is NaN.
template <class T>
struct reducer<reduction::strict_argmax, T> {
    T best = detail::minus_infinity<T>;
    std::ptrdiff_t where = -1;
    CASTNET_HD void take(T x, std::ptrdiff_t i) {
        if (x > best) {
            best = x;
            where = i;
        } else if (!(x < best)) {
            where = -1;
            best = x == best ? best : -detail::minus_infinity<T>; // nothing is larger
        }
    }
    CASTNET_HD void join(reducer const& other) { take(other.best, other.where); }
    CASTNET_HD T result(T) const { return static_cast<T>(where); }
};

// Keeps sum(exp(x - best)), rescaled whenever a larger x comes.
// Equal values are not subtracted, since both may be -infinity.
template <class T>
struct reducer<reduction::log_sum_exp, T> {
    T best = detail::minus_infinity<T>;
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
        } else if (other.total != T(0)) { // else it took nothing
            total += other.total * (other.best == best ? T(1) : std::exp(other.best - best));
        }
    }
    CASTNET_HD T result(T) const { return best + std::log(total); }
};

} // namespace castnet
