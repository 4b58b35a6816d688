// Equality of two tensors, exact or within a tolerance: array_equal, allclose. Shapes broadcast.
#pragma once

#include <castnet/tensor/detail/loop.hpp>
#include <castnet/tensor/detail/operand.hpp>
#include <castnet/tensor/elementwise.hpp>

#include <limits>

namespace castnet {

namespace detail {

// Whether pair(a, b) holds for all pairs of elements, taken in their common type.
template <class A, class B, class Pair>
bool all_pairs(A const& a, B const& b, Pair const& pair) {
    using T = common_value_t<A, B>;
    bool all = true;
    using S =
        broadcast_t<typename operand_traits<A>::shape_type, typename operand_traits<B>::shape_type>;
    for_each_index<S>([&](auto... i) {
        all = all && pair(static_cast<T>(broadcast_element(a, i...)),
                          static_cast<T>(broadcast_element(b, i...)));
    });
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
        double const difference = left < right ? right - left : left - right;
        double const size = right < 0 ? -right : right;
        return left == right ||
               (size < std::numeric_limits<double>::infinity() && difference <= atol + rtol * size);
    });
}

} // namespace castnet
