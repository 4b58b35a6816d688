// End of a matrix product: an element-wise function of it, and its form where libraries know it.
#pragma once

#include <castnet/tensor/elementwise.hpp>

#include <tuple>
#include <type_traits>

namespace castnet::detail {

// Stands for a product of shape S in the expression that a function makes of it.
template <class T, class S, class Device>
struct product_elements : tensor_base {
    using value_type = T;
    using shape_type = S;
    using device_type = Device;
    static constexpr bool is_flat = true, is_along_rows = true;
    static constexpr size_t size() { return S::count; }

    template <class... Index>
    T element(Index...) const {
        static_assert(
            never<Index...>,
            "castnet: matmul: the function of a product is element-wise: for sums or other "
            "functions of all of it, multiply first: auto y = matmul(a, b)");
        return {};
    }
    T flat(size_t i) const { return element(i); }
};

template <class X>
inline constexpr bool is_product = false;
template <class T, class S, class Device>
inline constexpr bool is_product<product_elements<T, S, Device>> = true;

// The expression x with the product in its place.
template <class Product, class X>
decltype(auto) with_product(Product const& product, X const& x);

template <class Product, fn F, class T, class S, class... X>
auto call_with_product(Product const& product, elementwise_expression<F, T, S, X...> const& x) {
    return std::apply(
        [&](X const&... operand) {
            return elementwise_expression<F, T, S,
                                          kept<decltype(with_product(product, operand))>...>{
                function<F>{}, with_product(product, operand)...};
        },
        x.operands());
}

template <class Product, class X>
decltype(auto) with_product(Product const& product, X const& x) {
    if constexpr (is_product<X>) {
        return (product);
    } else if constexpr (Number<X> || requires { typename X::strides_type; }) {
        return (x);
    } else {
        return call_with_product(product, x);
    }
}

// Whether what a function gives has the shape of the product.
template <class Result, class S>
constexpr bool keeps_shape() {
    if constexpr (TensorExpression<Result>) {
        return std::is_same_v<typename Result::shape_type, S>;
    } else {
        return false;
    }
}
template <class Result, class S>
inline constexpr bool is_of_each_element = keeps_shape<Result, S>();

// The form of f that with_product() takes, for a product of this type.
template <class Product, class F>
auto end_of_product(F const& f) {
    using S = typename Product::shape_type;
    auto end =
        f(product_elements<typename Product::value_type, S, typename Product::device_type>{});
    static_assert(is_of_each_element<decltype(end), S>,
                  "castnet: matmul: the function of a product gives an expression of the product's "
                  "shape, such as [&](auto y) { return relu(y + bias); }");
    return end;
}

// An end as activation(factor * product + bias), with a number for each column as bias, where it
// has this form; each part may be missing.
template <class X>
struct end_form {
    static constexpr bool is_known = false;
};

template <class X>
inline constexpr bool is_scaled =
    end_form<X>::has_factor || end_form<X>::has_bias || end_form<X>::has_activation;
template <class X>
inline constexpr bool is_biased = end_form<X>::has_bias || end_form<X>::has_activation;

template <class T, class S, class Device>
struct end_form<product_elements<T, S, Device>> {
    static constexpr bool is_known = true;
    static constexpr bool has_factor = false, has_bias = false, has_activation = false;
    using end = product_elements<T, S, Device>;
    static double factor(end const&) { return 1; }
    static auto bias(end const&) { return typename pointer_on<T const, Device>::type{}; }
};

// A part of an end that stands around the rest of it, which is operand I.
template <size_t I, class... X>
struct form_around : end_form<std::tuple_element_t<I, std::tuple<X...>>> {
    using rest = end_form<std::tuple_element_t<I, std::tuple<X...>>>;
    static double factor(auto const& x) { return rest::factor(std::get<I>(x.operands())); }
    static auto bias(auto const& x) { return rest::bias(std::get<I>(x.operands())); }
};

template <class T, class S, class X, Number N>
    requires(end_form<X>::is_known && !is_scaled<X>)
struct end_form<elementwise_expression<fn::multiply, T, S, X, N>> : form_around<0, X, N> {
    static constexpr bool has_factor = true;
    static double factor(auto const& x) { return static_cast<double>(std::get<1>(x.operands())); }
};
template <class T, class S, Number N, class X>
    requires(end_form<X>::is_known && !is_scaled<X>)
struct end_form<elementwise_expression<fn::multiply, T, S, N, X>> : form_around<1, N, X> {
    static constexpr bool has_factor = true;
    static double factor(auto const& x) { return static_cast<double>(std::get<0>(x.operands())); }
};

// Whether X has a number of type T for each column of S, one after the other.
template <class X, class T, class S>
inline constexpr bool is_row = false;
template <class X, class T, class S>
    requires requires { typename X::strides_type; }
inline constexpr bool is_row<X, T, S> = std::is_same_v<typename X::value_type, T> && X::is_flat &&
                                        S::rank > 0 && X::shape_type::rank > 0 &&
                                        X::shape_type::count == extent_from_last<S>(0) &&
                                        X::shape_type::count
                                            == extent_from_last<typename X::shape_type>(0);

template <class T, class S, class X, class Bias>
    requires(end_form<X>::is_known && !is_biased<X> && is_row<Bias, T, S>)
struct end_form<elementwise_expression<fn::add, T, S, X, Bias>> : form_around<0, X, Bias> {
    static constexpr bool has_bias = true;
    static auto bias(auto const& x) { return std::get<1>(x.operands()).data(); }
};
template <class T, class S, class Bias, class X>
    requires(end_form<X>::is_known && !is_biased<X> && is_row<Bias, T, S>)
struct end_form<elementwise_expression<fn::add, T, S, Bias, X>> : form_around<1, Bias, X> {
    static constexpr bool has_bias = true;
    static auto bias(auto const& x) { return std::get<0>(x.operands()).data(); }
};

template <fn F, class T, class S, class X>
    requires(end_form<X>::is_known && !end_form<X>::has_activation)
struct end_form<elementwise_expression<F, T, S, X>> : form_around<0, X> {
    static constexpr bool has_activation = true;
    static constexpr fn activation = F;
};

} // namespace castnet::detail
