// Products of vectors, outer and cross, and the Kronecker product of tensors. Computed at once, on
// the calling thread.
#pragma once

#include <castnet/tensor/join.hpp>
#include <castnet/tensor/matmul.hpp>
#include <castnet/tensor/statistics.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace castnet {

namespace detail {

template <class S>
inline constexpr bool has_points = S::rank > 0 && S::extent[S::rank > 0 ? S::rank - 1 : 0] == 3;

// A tensor with axes 0 and 1 as one, 2 and 3 as one, ….
template <class X>
auto joined_by_twos(X&& x) {
    using S = typename std::remove_cvref_t<X>::shape_type;
    return [&]<size_t... Axis>(std::index_sequence<Axis...>) {
        return std::forward<X>(x)
            .template as<shape<(S::extent[2 * Axis] * S::extent[2 * Axis + 1])...>>();
    }(std::make_index_sequence<S::rank / 2>{});
}

// The elements of x in row-major order, broadcast to a shape.
template <class T, class S, class X>
auto repeated_as(X const& x) {
    if constexpr (std::is_same_v<typename X::shape_type, S>) {
        return factor<T, factor_order::rows>(x);
    } else {
        auto repeated = tensor<T, S>::empty();
        repeated = x;
        return repeated;
    }
}

// The vector products of Count / 3 vectors each.
template <size_t Count, class T>
void multiply_points(T const* __restrict a, T const* __restrict b, T* __restrict to) {
    for (size_t i = 0; i != Count; i += 3) {
        to[i] = a[i + 1] * b[i + 2] - a[i + 2] * b[i + 1];
        to[i + 1] = a[i + 2] * b[i] - a[i] * b[i + 2];
        to[i + 2] = a[i] * b[i + 1] - a[i + 1] * b[i];
    }
}

} // namespace detail

// The products of all elements of one vector with all of another, (m, n).
template <TensorExpression A, TensorExpression B>
auto outer(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    static_assert(SA::rank == 1 && SB::rank == 1, "castnet: outer takes two vectors");
    auto const left = evaluate(a);
    return evaluate(expand_dims<1>(left) * b);
}

// The products of all elements of one tensor with all of another, block by block, as numpy.kron:
// the Kronecker product of two matrices, or of two tensors of the same rank.
template <TensorExpression A, TensorExpression B>
auto kron(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    constexpr bool fits = SA::rank == SB::rank && SA::rank > 0;
    static_assert(fits, "castnet: kron takes two tensors of the same number of axes, such as "
                        "matrices");
    auto const blocks = evaluate(a);
    if constexpr (!fits) {
        return blocks; // after the complaint
    } else {
        auto const block = evaluate(b);
        return [&]<size_t... Axis>(std::index_sequence<Axis...>) {
            // (a0, 1, a1, 1, ...) times (1, b0, 1, b1, ...)
            auto const left = reshape<(Axis % 2 == 0 ? SA::extent[Axis / 2] : 1)...>(blocks);
            auto const right = reshape<(Axis % 2 == 0 ? 1 : SB::extent[Axis / 2])...>(block);
            return detail::joined_by_twos(evaluate(left * right));
        }(std::make_index_sequence<2 * SA::rank>{});
    }
}

// The vector products of vectors of three elements along the last axis, as numpy.cross; the axes
// before it broadcast.
template <TensorExpression A, TensorExpression B>
auto cross(A const& a, B const& b) {
    static_assert(detail::has_points<typename A::shape_type> &&
                      detail::has_points<typename B::shape_type>,
                  "castnet: cross takes vectors of three elements along the last axis");
    using S = broadcast_t<typename A::shape_type, typename B::shape_type>;
    using T = number_of<fn::subtract, detail::common_value_t<A, B>>;
    if constexpr (detail::is_host<typename A::device_type>) {
        auto const left = detail::repeated_as<T, S>(a);
        auto const right = detail::repeated_as<T, S>(b);
        auto products = tensor<T, S>::empty();
        detail::multiply_points<S::count>(left.data(), right.data(), products.data());
        return products;
    } else {
        auto const left = detail::kept_values(a);
        auto const right = detail::kept_values(b);
        auto const product = [&](size_t i, size_t j) {
            constexpr size_t along_a = A::shape_type::rank - 1, along_b = B::shape_type::rank - 1;
            return evaluate(select<along_a>(left, i) * select<along_b>(right, j) -
                            select<along_a>(left, j) * select<along_b>(right, i));
        };
        return stack<S::rank - 1>(product(1, 2), product(2, 0), product(0, 1));
    }
}

} // namespace castnet
