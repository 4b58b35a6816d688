// Equality of two tensors, exact or within a tolerance: array_equal, allclose, and isclose for each
// element. Shapes broadcast.
#pragma once

#include <castnet/expr/callables.hpp>
#include <castnet/expr/rounding.hpp>
#include <castnet/tensor/detail/blocks.hpp>
#include <castnet/tensor/detail/loop.hpp>
#include <castnet/tensor/detail/operand.hpp>
#include <castnet/tensor/detail/reduction.hpp>
#include <castnet/tensor/elementwise.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <cmath>
#include <limits>

namespace castnet {

namespace detail {

// Whether pair(a, b) holds for all pairs of elements, taken in their common type: row by row, or in
// memory order, up to the first block in which it does not.
template <class A, class B, class Pair>
bool all_pairs(A const& a, B const& b, Pair const& pair) {
    using T = common_value_t<A, B>;
    using S =
        broadcast_t<typename operand_traits<A>::shape_type, typename operand_traits<B>::shape_type>;
    bool all = true;
    auto const look = [&]<size_t Count>(length<Count>, auto const& read) {
        constexpr size_t at_once = 512, rest = Count % at_once;
        auto const look_at = [&]<size_t Length>(length<Length>, size_t first) {
            lane_flag<T> different = 0; // (compilers do not take a bool in vectors)
            for (size_t i = first; i != first + Length; ++i) {
                bool const holds = pair(static_cast<T>(read(a, i)), static_cast<T>(read(b, i)));
                different |= static_cast<lane_flag<T>>(!holds);
            }
            all = different == 0;
        };
        for (size_t first = 0; all && first != Count - rest; first += at_once) {
            look_at(length<at_once>{}, first);
        }
        if constexpr (rest > 0) {
            if (all) {
                look_at(length<rest>{}, Count - rest);
            }
        }
    };
    if constexpr (is_flat_over<A, S>() && is_flat_over<B, S>()) {
        look(length<S::count>{}, flat_reader<S>{});
    } else if constexpr (!is_along_rows<A>()) {
        return all_pairs(evaluate(a), b, pair);
    } else if constexpr (!is_along_rows<B>()) {
        return all_pairs(a, evaluate(b), pair);
    } else {
        for_each_row<S>([&](auto... row) {
            if (all) {
                look(length<S::extent[S::rank - 1]>{}, row_reader<decltype(row)...>{{row...}});
            }
        });
    }
    return all;
}

} // namespace detail

template <class A, class B>
    requires TensorOperands<A, B>
bool array_equal(A const& a, B const& b) {
    return detail::all_pairs(a, b, [](auto x, auto y) { return x == y; });
}

// Whether |a - b| <= atol + rtol * |b| everywhere, as numpy.allclose: infinities are close to
// themselves, NaN to nothing.
template <class A, class B>
    requires TensorOperands<A, B>
bool allclose(A const& a, B const& b, double rtol = 1e-5, double atol = 1e-8) {
    return detail::all_pairs(a, b, [rtol, atol](auto x, auto y) {
        double const left = static_cast<double>(x), right = static_cast<double>(y);
        double const difference = std::fabs(left - right), size = std::fabs(right);
        return (left == right) | ((size < std::numeric_limits<double>::infinity()) &
                                  (difference <= atol + rtol * size));
    });
}

// The same for each element, 1 or 0, as numpy.isclose: in the type of the tensors, integers as
// doubles. On any device; expressions are read twice.
template <class A, class B>
    requires TensorOperands<A, B>
auto isclose(A const& a, B const& b, double rtol = 1e-5, double atol = 1e-8) {
    auto const size = b * 1.0;
    auto const is_near = abs(a - size) <= atol + rtol * abs(size);
    return evaluate(maximum(a == size, isfinite(size) * is_near)); // or, and
}

} // namespace castnet
