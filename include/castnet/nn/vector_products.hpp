// Products with vectors: dot, outer, cross, matmul; and kron.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/reshape.hpp>

#include <utility>

namespace castnet {

// The inner product of two vectors.
template <size_t N>
constexpr symbol<shape<>> dot(symbol<shape<N>> a, symbol<shape<N>> b) {
    return sum(a * b);
}
// The outer product: element (i, j) is a[i] * b[j].
template <size_t M, size_t N>
constexpr symbol<shape<M, N>> outer(symbol<shape<M>> a, symbol<shape<N>> b) {
    return reshaped(a, shape<M, 1>{}) * reshaped(b, shape<1, N>{});
}

template <class A, class B>
inline constexpr bool holds_points =
    A::rank > 0 && B::rank > 0 && !channels_first<A> && !channels_first<B> && channels_of<A> == 3 &&
    channels_of<B> == 3;

// The vector products of vectors of three elements along the last axis.
template <class A, class B>
constexpr auto cross(symbol<A> a, symbol<B> b) {
    static_assert(holds_points<A, B>,
                  "castnet: cross takes vectors of three elements along the last axes of tensors "
                  "that are no images; see holds_points<shapes>");
    if constexpr (holds_points<A, B>) {
        using result = decltype(broadcast_of<A, B>());
        auto const difference = [&]<size_t I, size_t J>(std::index_sequence<I, J>) {
            return slice<A::rank - 1, I, I + 1>(a) * slice<B::rank - 1, J, J + 1>(b) -
                   slice<A::rank - 1, J, J + 1>(a) * slice<B::rank - 1, I, I + 1>(b);
        };
        return concatenate<result::rank - 1>(difference(std::index_sequence<1, 2>{}),
                                             difference(std::index_sequence<2, 0>{}),
                                             difference(std::index_sequence<0, 1>{}));
    } else {
        return a;
    }
}

template <class A, class B>
inline constexpr bool has_blocks =
    A::rank == B::rank && A::rank > 0 && A::rank <= 3 && !channels_first<A> && !channels_first<B>;

// The products of all elements of one tensor with all of another of the same rank, block by block:
// of vectors and matrices the Kronecker product.
template <class A, class B>
constexpr auto kron(symbol<A> a, symbol<B> b) {
    static_assert(
        has_blocks<A, B>,
        "castnet: kron takes two tensors of the same number of axes, up to three, such as "
        "matrices, and no images; see has_blocks<shapes>");
    if constexpr (has_blocks<A, B>) {
        return [&]<size_t... I>(std::index_sequence<I...>) {
            // (a0, 1, a1, 1, ...) times (1, b0, 1, b1, ...)
            auto const blocks =
                reshaped(a, row_major_shape<(I % 2 == 0 ? A::extent[I / 2] : 1)...>{});
            auto const block =
                reshaped(b, row_major_shape<(I % 2 == 0 ? 1 : B::extent[I / 2])...>{});
            return [&]<size_t... Axis>(std::index_sequence<Axis...>) {
                return reshaped(blocks * block,
                                row_major_shape<A::extent[Axis] * B::extent[Axis]...>{});
            }(std::make_index_sequence<A::rank>{});
        }(std::make_index_sequence<2 * A::rank>{});
    } else {
        return a;
    }
}

// Products of matrices and vectors; a vector is a row on the left and a column on the right.
template <size_t N>
constexpr symbol<shape<>> matmul(symbol<shape<N>> a, symbol<shape<N>> b) {
    return sum(a * b);
}
template <size_t M, size_t N>
constexpr symbol<shape<N>> matmul(symbol<shape<M>> a, symbol<shape<M, N>> b) {
    if constexpr (M == N) {
        if (detail::is_parameter(*a.g, b.id, role::dense_weight)) { // (units, features)
            return detail::matmul<shape<N>>(a, b);
        }
    }
    if (detail::is_weight_of(*a.g, a.id, b.id)) {
        return detail::times_weight<shape<N>>(a, b, false);
    }
    return reshaped(matmul(reshaped(a, shape<1, M>{}), b), shape<N>{});
}
template <size_t M, size_t N>
constexpr symbol<shape<M>> matmul(symbol<shape<M, N>> a, symbol<shape<N>> b) {
    if (detail::is_weight_of(*a.g, b.id, a.id)) {
        return detail::times_weight<shape<M>>(b, a, true);
    }
    return reshaped(matmul(a, reshaped(b, shape<N, 1>{})), shape<M>{});
}

// f(matmul(a, b)), which tensors compute on the way (tensor/matmul.hpp).
template <Symbol A, Symbol B, class F>
    requires(!Symbol<F>)
constexpr auto matmul(A a, B b, F const& f) {
    return f(matmul(a, b));
}

} // namespace castnet
