// Sums of products by Einstein's convention, einsum<"ij,jk->ik">(a, b), with the text checked while
// compiling: a letter for each axis of each operand, and after the arrow those of the result.
// Letters that the result lacks are summed over; a letter twice in one operand is its diagonal. As
// numpy.einsum with an explicit result; "..." is not supported, spaces do not count. Computed at
// once; of two operands on the host by matmul, where the text describes products of matrices,
// whatever the order of their axes; of more in pairs from the first on, where that is less work.
// Operands are tensors with names, or views.
#pragma once

#include <castnet/tensor/detail/einsum_text.hpp>
#include <castnet/tensor/elementwise.hpp>
#include <castnet/tensor/matmul.hpp>
#include <castnet/tensor/reduce.hpp>
#include <castnet/tensor/views.hpp>

#include <type_traits>
#include <utility>

namespace castnet {

namespace detail {

// The shape that these letters have.
template <fixed_string Text, einsum_text::letters Letters, class... S, size_t... I>
auto shape_of_letters(std::index_sequence<I...>)
    -> shape<einsum_extent<Text, S...>(Letters.at[I])...>;
template <fixed_string Text, einsum_text::letters Letters, class... S>
using einsum_shape =
    decltype(shape_of_letters<Text, Letters, S...>(std::make_index_sequence<Letters.count>{}));

// An operand as seen along letters: strides of 0 along those that it lacks.
template <fixed_string Text, size_t Operand, einsum_text::letters Letters, class All, class T,
          class S, class Strides, class Device>
auto along_letters(tensor_view<T, S, Strides, Device> x) {
    constexpr auto step = [](char letter) {
        size_t sum = 0;
        for (size_t axis = 0; axis < S::rank; ++axis) {
            sum += einsum_of<Text>.operand[Operand][axis] == letter ? Strides::step[axis] : 0;
        }
        return sum;
    };
    return [&]<size_t... I>(std::index_sequence<I...>) {
        return tensor_view<T const, All, strides<step(Letters.at[I])...>, Device>{x.data()};
    }(std::make_index_sequence<Letters.count>{});
}

// Whether the axes from First to End lie in memory as one.
template <class V, size_t First, size_t End>
constexpr bool lie_as_one() {
    for (size_t axis = First + 1; axis < End; ++axis) {
        if (V::strides_type::step[axis - 1] !=
            V::strides_type::step[axis] * V::shape_type::extent[axis]) {
            return false;
        }
    }
    return true;
}

// x as a batch of matrices, whose rows are Rows axes of x and whose columns are the last ones;
// copied where such axes do not lie in memory as one.
template <size_t Batch, size_t Rows, class T, class S, class Strides, class Device>
auto as_matrices(tensor_view<T, S, Strides, Device> x) {
    using V = tensor_view<T, S, Strides, Device>;
    constexpr size_t middle = Batch + Rows;
    constexpr auto merged = [](size_t first, size_t end) {
        size_t count = 1;
        for (size_t axis = first; axis < end; ++axis) {
            count *= S::extent[axis];
        }
        return count;
    };
    constexpr auto step = [](size_t first, size_t end) {
        return first == end ? 0 : Strides::step[end - 1];
    };
    return [&]<size_t... I>(std::index_sequence<I...>) {
        using matrices = shape<S::extent[I]..., merged(Batch, middle), merged(middle, S::rank)>;
        if constexpr (lie_as_one<V, Batch, middle>() && lie_as_one<V, middle, S::rank>()) {
            using steps = strides<Strides::step[I]..., step(Batch, middle), step(middle, S::rank)>;
            return tensor_view<T, matrices, steps, Device>{x.data()};
        } else {
            return evaluate(x).template as<matrices>();
        }
    }(std::make_index_sequence<Batch>{});
}

// einsum where it consists of products of matrices.
template <fixed_string Text, class A, class B>
auto einsum_product(A const& a, B const& b) {
    using SA = typename A::shape_type;
    using SB = typename B::shape_type;
    constexpr auto text = einsum_of<Text>;
    constexpr auto batch = text.of(true, true, true), left = text.of(true, false, true);
    constexpr auto right = text.of(false, true, true), summed = text.of(true, true, false);
    constexpr auto of_a = batch.and_then(left).and_then(summed);
    constexpr auto of_b = batch.and_then(summed).and_then(right);
    constexpr auto of_both = batch.and_then(left).and_then(right);
    auto const first = as_matrices<batch.count, left.count>(
        along_letters<Text, 0, of_a, einsum_shape<Text, of_a, SA, SB>>(a));
    auto const second = as_matrices<batch.count, summed.count>(
        along_letters<Text, 1, of_b, einsum_shape<Text, of_b, SA, SB>>(b));
    auto products = matmul(first, second).template as<einsum_shape<Text, of_both, SA, SB>>();
    if constexpr (text.result == of_both.view()) {
        return products;
    } else {
        return [&]<size_t... Axis>(std::index_sequence<Axis...>) {
            return evaluate(
                with_axes(products.view(),
                          std::index_sequence<place_of(text.result[Axis], of_both.view())...>{}));
        }(std::make_index_sequence<of_both.count>{});
    }
}

// einsum by one loop over all letters.
template <fixed_string Text, class... X>
auto einsum_in_a_loop(X const&... x) {
    constexpr auto letters = einsum_of<Text>.all();
    constexpr size_t kept = einsum_of<Text>.result.size();
    using all = einsum_shape<Text, letters, typename X::shape_type...>;
    auto const product = [&]<size_t... Operand>(std::index_sequence<Operand...>) {
        auto const multiply = [](auto const& multiply_more, auto first, auto... more) {
            if constexpr (sizeof...(more) == 0) {
                return first;
            } else {
                return first * multiply_more(multiply_more, more...);
            }
        };
        return multiply(multiply, along_letters<Text, Operand, letters, all>(view_of(x))...);
    };
    auto const summed = [&]<size_t... Axis>(auto const& terms, std::index_sequence<Axis...>) {
        if constexpr (sizeof...(Axis) == 0) {
            return evaluate(terms);
        } else {
            return sum<(kept + Axis)...>(terms);
        }
    };
    return summed(product(std::index_sequence_for<X...>{}),
                  std::make_index_sequence<letters.count - kept>{});
}

// Whether einsum takes fewer multiplications pair by pair. (Numbers are not rounded to floats where
// a later operand is of doubles.)
template <fixed_string Text, class... X>
inline constexpr bool is_better_in_pairs = false;
template <fixed_string Text, class A, class B, class C, class... X>
inline constexpr bool is_better_in_pairs<Text, A, B, C, X...> =
    std::is_same_v<common_value_t<A, B>, common_value_t<A, B, C, X...>> &&
    einsum_count_in_pairs<Text, typename A::shape_type, typename B::shape_type,
                          typename C::shape_type, typename X::shape_type...>() <
        (sizeof...(X) + 2) *
            einsum_count<Text, typename A::shape_type, typename B::shape_type,
                         typename C::shape_type, typename X::shape_type...>(einsum_of<Text>.all());

} // namespace detail

template <fixed_string Text, TensorExpression... X>
auto einsum(X const&... x);

namespace detail {

template <fixed_string Text, class A, class B, class... X>
auto einsum_in_pairs(A const& a, B const& b, X const&... others) {
    constexpr einsum_pair<Text> texts;
    auto const product = einsum<fixed_string{texts.first}>(a, b);
    return einsum<fixed_string{texts.then}>(product, others...);
}

} // namespace detail

template <fixed_string Text, TensorExpression... X>
auto einsum(X const&... x) {
    constexpr auto bare = detail::without_spaces<Text>();
    using T = detail::common_value_t<X...>;
    static_assert(detail::einsum_fits<bare, typename X::shape_type...>::checked);
    if constexpr (detail::mistake_in_einsum<bare, typename X::shape_type...>() !=
                  detail::einsum_mistake::none) {
        return T{}; // after the complaint
    } else if constexpr (detail::einsum_of<bare>.is_product() && std::is_floating_point_v<T> &&
                         detail::is_host<detail::device_of_operands<X...>>) {
        return detail::einsum_product<bare>(detail::view_of(x)...);
    } else if constexpr (detail::is_better_in_pairs<bare, X...>) {
        return detail::einsum_in_pairs<bare>(x...);
    } else {
        return detail::einsum_in_a_loop<bare>(x...);
    }
}

} // namespace castnet
