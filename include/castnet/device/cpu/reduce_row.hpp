// Reduction of a row of channels, computed in vectors.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/exponential.hpp>
#include <castnet/core/select.hpp>
#include <castnet/cpu/transpose.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/reducer.hpp>
#include <castnet/plan/evaluate.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace castnet::cpu::inline CASTNET_TARGET {

// A reducer's state after these values, computed in vectors. x is overwritten; there is room
// for whole vectors.
template <class T>
reducer<reduction::log_sum_exp, T> log_sum_exp_of(T* x, std::ptrdiff_t count) {
    constexpr std::ptrdiff_t width = simd<T>::width;
    for (; count % width != 0; ++count) {
        x[count] = minus_infinity<T>;
    }
    T part[size_t(width)];
    std::copy_n(x, width, part);
    for (std::ptrdiff_t i = width; i < count; i += width) {
        for (std::ptrdiff_t j = 0; j < width; ++j) {
            part[j] = x[i + j] > part[j] ? x[i + j] : part[j];
        }
    }
    T best = minus_infinity<T>; // which NaN does not replace
    for (T const largest : part) {
        best = largest > best ? largest : best;
    }
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        x[i] = elementary::exp(select(x[i] == best, T(0), x[i] - best));
    }
    std::copy_n(x, width, part);
    for (std::ptrdiff_t i = width; i < count; i += width) {
        CASTNET_SIMD
        for (std::ptrdiff_t j = 0; j < width; ++j) {
            part[j] += x[i + j];
        }
    }
    T total = 0;
    for (T const sum : part) {
        total += sum;
    }
    return {best, total};
}

// The same of few values, for which the beginning and end of vectors would take longer.
template <class T>
reducer<reduction::log_sum_exp, T> log_sum_exp_of_few(T const* x, std::ptrdiff_t count) {
    reducer<reduction::log_sum_exp, T> r;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        r.best = x[i] > r.best ? x[i] : r.best;
    }
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        r.total += elementary::exp(select(x[i] == r.best, T(0), x[i] - r.best));
    }
    return r;
}

// The sum of these values in as many parts as a vector holds, so that none waits for the one
// before.
template <class T>
void add_parts(T const* x, std::ptrdiff_t count, T (&part)[size_t(simd<T>::width)]) {
    constexpr std::ptrdiff_t width = simd<T>::width;
    std::ptrdiff_t i = 0;
    for (; i + width <= count; i += width) {
        CASTNET_SIMD
        for (std::ptrdiff_t j = 0; j < width; ++j) {
            part[j] += x[i + j];
        }
    }
    for (std::ptrdiff_t j = 0; i < count; ++i, ++j) {
        part[j] += x[i];
    }
}
template <class T>
T sum_of(T const* x, std::ptrdiff_t count) {
    T part[size_t(simd<T>::width)] = {};
    add_parts(x, count, part);
    T total = 0;
    for (T const sum : part) {
        total += sum;
    }
    return total;
}

// The same sums of as many rows as a vector has lanes, from their parts.
template <class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
join_parts(T const (&part)[size_t(simd<T>::width)][size_t(simd<T>::width)], T factor, T* out) {
    constexpr int width = simd<T>::width;
    vec<T> lane[size_t(width)];
    CASTNET_UNROLL
    for (int i = 0; i < width; ++i) {
        lane[i] = *reinterpret_cast<vec<T> const*>(part[i]);
    }
    turn_lanes<1, T>(lane);
    vec<T> total{};
    CASTNET_UNROLL
    for (int i = 0; i < width; ++i) {
        total += lane[i];
    }
    *reinterpret_cast<vec<T>*>(out) = total * factor;
}

// The largest of these values, or NaN if one is; -infinity of none.
template <class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS T largest_of(T const* x, std::ptrdiff_t count) {
    constexpr std::ptrdiff_t width = simd<T>::width;
    auto const larger = [](auto a, auto b) __attribute__((always_inline)) { return a > b ? a : b; };
    T best = minus_infinity<T>;
    bool has_nan = false;
    std::ptrdiff_t const whole = count / width * width;
    if (whole > 0) {
        vec<T> lanes = best - vec<T>{};
        auto nan = lanes != lanes;
        for (std::ptrdiff_t i = 0; i < whole; i += width) {
            vec<T> const v = *reinterpret_cast<vec<T> const*>(x + i);
            lanes = larger(v, lanes);
            nan |= v != v;
        }
        for (std::ptrdiff_t j = 0; j < width; ++j) {
            best = larger(T(lanes[j]), best);
            has_nan |= nan[j] != 0;
        }
    }
    for (std::ptrdiff_t i = whole; i < count; ++i) {
        best = larger(x[i], best);
        has_nan |= x[i] != x[i];
    }
    return has_nan ? std::numeric_limits<T>::quiet_NaN() : best;
}

// Values of a row that are computed before they are reduced.
inline constexpr std::ptrdiff_t row_piece = 256;

// r with the values at the points from p on, `count` channels of one row; computed in blocks, in
// vectors. (By value: a reducer whose address is known is not in registers elsewhere either.)
template <class Program, reduction R, class T>
reducer<R, T> with_row(reducer<R, T> r, program_arguments<T> const& a, point const& p,
                       std::ptrdiff_t count) {
    T x[size_t(row_piece)];
    for (std::ptrdiff_t first = 0; first < count; first += row_piece) {
        std::ptrdiff_t const here = std::min(row_piece, count - first);
        CASTNET_SIMD
        for (std::ptrdiff_t i = 0; i < here; ++i) {
            x[i] = evaluate_channel<Program>(a, p, first + i);
        }
        if constexpr (R == reduction::log_sum_exp) {
            r.join(here < 32 ? log_sum_exp_of_few(x, here) : log_sum_exp_of(x, here));
        } else if constexpr (R == reduction::sum) {
            r.take(sum_of(x, here), first);
        } else if constexpr (R == reduction::max) {
            r.take(largest_of(x, here), first);
        } else { // one by one where one is not less than the best so far
            constexpr std::ptrdiff_t block = 4 * simd<T>::width;
            for (std::ptrdiff_t at = 0; at < here; at += block) {
                std::ptrdiff_t const end = std::min(at + block, here);
                if (end - at == block && largest_of(x + at, block) < r.best) {
                    continue;
                }
                for (std::ptrdiff_t i = at; i < end; ++i) {
                    r.take(x[i], first + i);
                }
            }
        }
    }
    return r;
}

} // namespace castnet::cpu::inline CASTNET_TARGET
