// Matrix products by NumPy's rule for `@`: (m, k) times (k, n) is (m, n); a vector counts as a row
// on the left and as a column on the right; axes before the last two are batches, and broadcast.
// Computed at once, in the common type of the elements. And dot, the inner product of two vectors.
#pragma once

#include <castnet/tensor/detail/gemm.hpp>
#include <castnet/tensor/reduce.hpp>
#include <castnet/tensor/views.hpp>

namespace castnet {

namespace detail {

template <class Left, class Right>
inline constexpr bool can_multiply =
    Left::extent[Left::rank - 1] == Right::extent[Right::rank > 1 ? Right::rank - 2 : 0];

template <class Left, class Right>
inline constexpr bool are_equal_vectors = Left::rank == 1 && std::is_same_v<Left, Right>;

// The axes before the last two.
template <class S, size_t... I>
auto leading(std::index_sequence<I...>) -> shape<S::extent[I]...>;

template <class V, size_t... Batch>
auto repeat(V const& matrices, shape<Batch...>) {
    using S = typename V::shape_type;
    return broadcast_to<Batch..., S::extent[S::rank - 2], S::extent[S::rank - 1]>(matrices);
}

template <size_t... Batch, size_t M, size_t N>
auto batch_of_matrices(shape<Batch...>, shape<M, N>) -> shape<Batch..., M, N>;

// a as a view of at least two axes; b as such a view with contiguous rows of type T.
template <class T, class A, class B>
auto multiply_matrices(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    constexpr size_t m = SA::extent[SA::rank - 2], k = SA::extent[SA::rank - 1];
    constexpr size_t n = SB::extent[SB::rank - 1];
    using batch = broadcast_t<decltype(leading<SA>(std::make_index_sequence<SA::rank - 2>{})),
                              decltype(leading<SB>(std::make_index_sequence<SB::rank - 2>{}))>;

    tensor<T, decltype(batch_of_matrices(batch{}, shape<m, n>{}))> result;
    auto const left = repeat(a, batch{});
    auto const right = repeat(b, batch{});
    using left_strides = typename decltype(left)::strides_type;
    for_each_index<batch>([&](auto... at) {
        multiply_add_matrix<m, k, n>(
            &left.element(at..., size_t{0}, size_t{0}), left_strides::step[batch::rank],
            left_strides::step[batch::rank + 1], &right.element(at..., size_t{0}, size_t{0}),
            &result(at..., size_t{0}, size_t{0}));
    });
    return result;
}

} // namespace detail

template <TensorExpression A, TensorExpression B>
auto matmul(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    static_assert(SA::rank > 0 && SB::rank > 0,
                  "castnet: matmul needs vectors or matrices, not tensors of rank 0");
    static_assert(detail::can_multiply<SA, SB>,
                  "castnet: matmul needs as many columns on the left as rows on the right");
    using T = number_of<fn::multiply, detail::common_value_t<A, B>>;

    if constexpr (!requires { typename A::strides_type; }) {
        return matmul(evaluate(a), b);
    } else if constexpr (SA::rank == 1) {
        auto product = matmul(expand_dims<0>(a), b);
        constexpr size_t row = decltype(product)::shape_type::rank - (SB::rank == 1 ? 1 : 2);
        using S = decltype(detail::drop_axes<typename decltype(product)::shape_type>::template from<
                           0, row>());
        return std::move(product).template as<S>();
    } else if constexpr (SB::rank == 1) {
        auto const column = tensor<T, SB>(b);
        auto product = matmul(a, expand_dims<1>(column));
        constexpr size_t last = decltype(product)::shape_type::rank - 1;
        using S = decltype(detail::drop_axes<typename decltype(product)::shape_type>::template from<
                           0, last>());
        return std::move(product).template as<S>();
    } else if constexpr (requires { typename B::strides_type; }) {
        // Rows of b are read again and again: they must lie in memory as gemm reads them.
        if constexpr (B::is_flat && std::is_same_v<typename B::value_type, T>) {
            return detail::multiply_matrices<T>(detail::view_of(a), detail::view_of(b));
        } else {
            return matmul(a, tensor<T, SB>(b));
        }
    } else {
        return matmul(a, tensor<T, SB>(b));
    }
}

// The sum of the products of two vectors' elements.
template <TensorExpression A, TensorExpression B>
auto dot(A const& a, B const& b) {
    static_assert(detail::are_equal_vectors<typename A::shape_type, typename B::shape_type>,
                  "castnet: dot needs two vectors of the same length");
    return sum(a * b);
}

} // namespace castnet
