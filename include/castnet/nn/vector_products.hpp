// Products with vectors: dot, outer, matmul.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/nn/reshape.hpp>

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
