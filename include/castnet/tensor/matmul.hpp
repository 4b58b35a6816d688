// Matrix products by NumPy's rule for `@`: (m, k) times (k, n) is (m, n); a vector counts as a row
// on the left and as a column on the right; axes before the last two are batches, and broadcast.
// Computed at once, in the common type of the elements, on the calling thread or by the GPU. And
// dot, the inner product of two vectors.
#pragma once

#include <castnet/tensor/detail/product.hpp>
#include <castnet/tensor/detail/product_end.hpp>
#include <castnet/tensor/reduce.hpp>
#include <castnet/tensor/views.hpp>

#include <cstdint>
#include <utility>

namespace castnet {

namespace detail {

template <class Left, class Right>
inline constexpr bool can_multiply =
    Left::extent[Left::rank - 1] == Right::extent[Right::rank > 1 ? Right::rank - 2 : 0];

template <class Left, class Right>
inline constexpr bool are_equal_vectors = Left::rank == 1 && std::is_same_v<Left, Right>;

// The axes before the last two, and others behind them.
template <class S, size_t... Last, size_t... I>
auto leading(std::index_sequence<I...>) -> shape<S::extent[I]..., Last...>;

template <class V, size_t... Batch>
auto repeat(V const& matrices, shape<Batch...>) {
    using S = typename V::shape_type;
    return broadcast_to<Batch..., S::extent[S::rank - 2], S::extent[S::rank - 1]>(matrices);
}

template <class V>
auto last_strides(V const&) {
    constexpr auto& step = V::strides_type::step;
    return matrix_strides<step[V::shape_type::rank - 2], step[V::shape_type::rank - 1]>{};
}

template <size_t... Batch, size_t M, size_t N>
auto batch_of_matrices(shape<Batch...>, shape<M, N>) -> shape<Batch..., M, N>;

// Views of elements of type T with at least two axes each. `end`: on a GPU, an end that it knows.
template <class T, class A, class B, class... End>
CASTNET_ALWAYS_INLINE auto multiply_matrices(A const& a, B const& b, End const&... end) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    constexpr size_t m = SA::extent[SA::rank - 2], k = SA::extent[SA::rank - 1];
    constexpr size_t n = SB::extent[SB::rank - 1];
    using batch = broadcast_t<decltype(leading<SA>(std::make_index_sequence<SA::rank - 2>{})),
                              decltype(leading<SB>(std::make_index_sequence<SB::rank - 2>{}))>;

    using Device = typename A::device_type;
    auto result = tensor<T, decltype(batch_of_matrices(batch{}, shape<m, n>{})), Device>::empty();
    auto const left = repeat(a, batch{});
    auto const right = repeat(b, batch{});
    if constexpr (is_host<Device>) {
        for_each_index<batch>([&](auto... at) {
            multiply<m, k, n>(&left.element(at..., size_t{0}, size_t{0}), last_strides(left),
                              &right.element(at..., size_t{0}, size_t{0}), last_strides(right),
                              &result(at..., size_t{0}, size_t{0}));
        });
    } else {
        Device::multiply(left, right, result.view(), end...);
    }
    return result;
}

// How a factor has to lie in memory: in any order, along its rows or its columns, also without rows
// or columns that overlap, or row after row.
enum class factor_order : std::uint8_t { any, along, apart, rows };

// Whether the lines along an axis lie in memory one after the other, each without gaps.
template <class X, size_t Line, size_t Along>
constexpr bool lies_apart() {
    using S = typename X::shape_type;
    constexpr auto& step = X::strides_type::step;
    return (S::extent[Along] == 1 || step[Along] == 1) &&
           (S::extent[Line] == 1 || step[Line] >= S::extent[Along]);
}

template <class X, factor_order Order>
constexpr bool lies_in_order() {
    constexpr size_t rank = X::shape_type::rank;
    constexpr auto& step = X::strides_type::step;
    if constexpr (Order == factor_order::rows) {
        return X::is_flat;
    } else if constexpr (Order == factor_order::apart) {
        return lies_apart<X, rank - 2, rank - 1>() || lies_apart<X, rank - 1, rank - 2>();
    } else {
        return Order == factor_order::any || step[rank - 1] == 1 || step[rank - 2] == 1;
    }
}

// x as a view that a product can read, or a tensor with its elements as T.
template <class T, factor_order Order, class X>
auto factor(X const& x) {
    if constexpr (requires { typename X::strides_type; }) {
        if constexpr (std::is_same_v<typename X::value_type, T> && lies_in_order<X, Order>()) {
            return view_of(x);
        } else {
            return tensor<T, typename X::shape_type, typename X::device_type>(x);
        }
    } else {
        return tensor<T, typename X::shape_type, typename X::device_type>(x);
    }
}

// Applies f to a product, in the memory of the product where the type stays the same.
template <class Product, class F>
auto ended(Product&& product, F const& f) {
    auto const end = end_of_product<Product>(f);
    auto const value = with_product(product.view(), end);
    if constexpr (std::is_same_v<typename decltype(end)::value_type,
                                 typename Product::value_type>) {
        product = value;
        return std::forward<Product>(product);
    } else {
        return evaluate(value);
    }
}

} // namespace detail

template <TensorExpression A, TensorExpression B>
CASTNET_ALWAYS_INLINE auto matmul(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    static_assert(SA::rank > 0 && SB::rank > 0,
                  "castnet: matmul needs vectors or matrices, not tensors of rank 0");
    static_assert(detail::can_multiply<SA, SB>,
                  "castnet: matmul needs as many columns on the left as rows on the right");
    using T = number_of<fn::multiply, detail::common_value_t<A, B>>;
    using Device = detail::device_of_operands<A, B>;

    using detail::factor_order;
    if constexpr (SA::rank == 1) {
        auto const row = detail::factor<T, factor_order::rows>(a);
        auto product = matmul(expand_dims<0>(row), b);
        constexpr size_t axis = decltype(product)::shape_type::rank - (SB::rank == 1 ? 1 : 2);
        using S = decltype(detail::drop_axes<typename decltype(product)::shape_type>::template from<
                           0, axis>());
        return std::move(product).template as<S>();
    } else if constexpr (SB::rank == 1) {
        auto const column = detail::factor<T, factor_order::rows>(b);
        auto product = matmul(a, expand_dims<1>(column));
        constexpr size_t last = decltype(product)::shape_type::rank - 1;
        using S = decltype(detail::drop_axes<typename decltype(product)::shape_type>::template from<
                           0, last>());
        return std::move(product).template as<S>();
    } else if constexpr (!detail::is_host<Device>) {
        auto const left = detail::factor<T, factor_order::apart>(a);
        auto const right = detail::factor<T, factor_order::apart>(b);
        return detail::multiply_matrices<T>(detail::view_of(left), detail::view_of(right));
    } else {
        constexpr size_t m = SA::extent[SA::rank - 2], n = SB::extent[SB::rank - 1];
        constexpr bool rows = detail::needs_rows<m, n, T>;
        auto const left = detail::factor < T,
                   n == 1 ? factor_order::along : factor_order::any > (a);
        auto const right = detail::factor<T, rows ? factor_order::rows : factor_order::along>(b);
        return detail::multiply_matrices<T>(detail::view_of(left), detail::view_of(right));
    }
}

// The same with an end: f makes an element-wise expression of the product, as in
//     matmul(x, weight, [&](auto y) { return relu(0.5 * y + bias); })
// It is called once, with what stands for the product, and its result computed in the product's
// memory. On a GPU, cuBLASLt computes activation(factor * y + bias) of floats on the way, each part
// of which may be missing: a number as factor, a vector with a number for each column as bias, relu
// or gelu_tanh as activation. Anything else is one more kernel.
template <TensorExpression A, TensorExpression B, class F>
    requires(!TensorExpression<F>)
auto matmul(A const& a, B const& b, F const& f) {
    using T = number_of<fn::multiply, detail::common_value_t<A, B>>;
    using Device = detail::device_of_operands<A, B>;
    if constexpr (detail::is_host<Device> || A::shape_type::rank < 2 || B::shape_type::rank < 2) {
        return detail::ended(matmul(a, b), f);
    } else {
        using detail::factor_order;
        auto const left = detail::factor<T, factor_order::apart>(a);
        auto const right = detail::factor<T, factor_order::apart>(b);
        auto const multiply = [&](auto const&... end) {
            return detail::multiply_matrices<T>(detail::view_of(left), detail::view_of(right),
                                                end...);
        };
        using product = decltype(multiply());
        using end = decltype(detail::end_of_product<product>(f));
        if constexpr (Device::template ends_product<product, end>()) {
            return multiply(detail::end_of_product<product>(f));
        } else {
            return detail::ended(multiply(), f);
        }
    }
}

// The sum of the products of two vectors' elements.
template <TensorExpression A, TensorExpression B>
CASTNET_ALWAYS_INLINE auto dot(A const& a, B const& b) {
    static_assert(detail::are_equal_vectors<typename A::shape_type, typename B::shape_type>,
                  "castnet: dot needs two vectors of the same length");
    return sum(a * b);
}

} // namespace castnet
