// Sums of products by Einstein's convention for symbols, einsum<"ij,jk->ik">(a, b), as for tensors
// (tensor/einsum.hpp). Two operands are multiplied by matmul where letters are summed over and
// others stay; more operands are multiplied one after another.
#pragma once

#include <castnet/nn/tensor_functions.hpp>
#include <castnet/tensor/detail/einsum_text.hpp>

#include <utility>

namespace castnet {

template <class S>
inline constexpr bool einsum_takes = !channels_first<S>;

namespace detail {

using axis_letters = einsum_text::letters;

// All but those at these places.
constexpr axis_letters without(axis_letters const& all, size_t place, size_t other) {
    axis_letters rest;
    for (size_t i = 0; i < all.count; ++i) {
        if (i != place && i != other) {
            rest.add(all.at[i]);
        }
    }
    return rest;
}
// The first place of a letter that stands again behind it, or the number of letters.
constexpr size_t first_twice(axis_letters const& all) {
    size_t i = 0;
    while (i < all.count && place_of(all.at[i], all.view().substr(i + 1)) + i + 1 == all.count) {
        ++i;
    }
    return i;
}
// The first place of a letter that is not among others, or the number of letters.
constexpr size_t first_other(axis_letters const& all, axis_letters const& others) {
    size_t i = 0;
    while (i < all.count && others.has(all.at[i])) {
        ++i;
    }
    return i;
}

template <fixed_string Text, axis_letters Letters, class... S, size_t... I>
auto row_major_of_letters(std::index_sequence<I...>)
    -> row_major_shape<einsum_extent<Text, S...>(Letters.at[I])...>;
template <fixed_string Text, axis_letters Letters, class... S>
using shape_along =
    decltype(row_major_of_letters<Text, Letters, S...>(std::make_index_sequence<Letters.count>{}));

// The elements of x whose positions along two axes of N are equal: one axis, before the others.
template <size_t First, size_t Second, class S>
constexpr auto diagonal_of_axes(symbol<S> x) {
    constexpr size_t n = S::extent[First], rest = S::count / (n * n);
    constexpr auto kept = some_axes<S, false, First, Second>();
    auto const rows = [&]<size_t... Kept>(std::index_sequence<Kept...>) {
        return reshaped(permute<First, Second, Kept...>(x), shape<n * n, rest>{});
    }(kept);
    // With n rows of zeros behind them, each n + 1 rows begin with one of the diagonal.
    auto const padded = reshaped(pad<0, 0, n>(rows), shape<n, (n + 1) * rest>{});
    return [&]<size_t... Kept>(std::index_sequence<Kept...>) {
        return reshaped(slice<1, 0, rest>(padded), row_major_shape<n, S::extent[Kept]...>{});
    }(kept);
}

// x, whose axes have the letters From, with those of To: others are summed over, and one that
// stands twice is a diagonal.
template <axis_letters From, axis_letters To, class S>
constexpr auto along(symbol<S> x) {
    constexpr size_t first = first_twice(From), other = first_other(From, To);
    if constexpr (first < From.count) {
        constexpr size_t second =
            first + 1 + place_of(From.at[first], From.view().substr(first + 1));
        constexpr axis_letters diagonal =
            axis_letters{{From.at[first]}, 1}.and_then(without(From, first, second));
        return along<diagonal, To>(diagonal_of_axes<first, second>(x));
    } else if constexpr (other < From.count) {
        return along<without(From, other, other), To>(sum<other>(x));
    } else if constexpr (From.view() == To.view()) {
        return x;
    } else {
        return [&]<size_t... I>(std::index_sequence<I...>) {
            return permute<place_of(To.at[I], From.view())...>(x);
        }(std::make_index_sequence<To.count>{});
    }
}

template <fixed_string Text, size_t Operand>
constexpr axis_letters letters_of_operand() {
    axis_letters all;
    for (char const c : einsum_of<Text>.operand[Operand]) {
        all.add(c);
    }
    return all;
}
template <fixed_string Text>
constexpr axis_letters letters_of_result() {
    axis_letters all;
    all.add_new(einsum_of<Text>.result);
    return all;
}

template <fixed_string Text, class A>
constexpr auto einsum_of_symbols(symbol<A> a) {
    return along<letters_of_operand<Text, 0>(), letters_of_result<Text>()>(a);
}
template <fixed_string Text, class A, class B>
constexpr auto einsum_of_symbols(symbol<A> a, symbol<B> b) {
    constexpr auto& text = einsum_of<Text>;
    constexpr auto batch = text.of(true, true, true), summed = text.of(true, true, false);
    constexpr auto left = text.of(true, false, true), right = text.of(false, true, true);
    constexpr auto both = batch.and_then(left).and_then(right);
    constexpr size_t samples = shape_along<Text, batch, A, B>::count;
    constexpr size_t rows = shape_along<Text, left, A, B>::count;
    constexpr size_t columns = shape_along<Text, right, A, B>::count;
    constexpr size_t terms = shape_along<Text, summed, A, B>::count;
    auto const first =
        along<letters_of_operand<Text, 0>(), batch.and_then(left).and_then(summed)>(a);
    auto const product = [&] {
        if constexpr (terms > 1 && rows * columns > 1) {
            auto const second =
                along<letters_of_operand<Text, 1>(), batch.and_then(summed).and_then(right)>(b);
            return matmul(reshaped(first, row_major_shape<samples, rows, terms>{}),
                          reshaped(second, row_major_shape<samples, terms, columns>{}));
        } else {
            auto const second =
                along<letters_of_operand<Text, 1>(), batch.and_then(right).and_then(summed)>(b);
            auto const products = reshaped(first, row_major_shape<samples, rows, 1, terms>{}) *
                                  reshaped(second, row_major_shape<samples, 1, columns, terms>{});
            if constexpr (terms == 1) {
                return products;
            } else {
                return sum<3>(products);
            }
        }
    }();
    return along<both, letters_of_result<Text>()>(
        reshaped(product, shape_along<Text, both, A, B>{}));
}
template <fixed_string Text, class A, class B, class... More>
    requires(sizeof...(More) > 0)
constexpr auto einsum_of_symbols(symbol<A> a, symbol<B> b, symbol<More>... more) {
    constexpr einsum_pair<Text> texts;
    auto const product = einsum_of_symbols<without_spaces<fixed_string{texts.first}>()>(a, b);
    return einsum_of_symbols<without_spaces<fixed_string{texts.then}>()>(product, more...);
}

} // namespace detail

template <fixed_string Text, Shape... S>
constexpr auto einsum(symbol<S>... x) {
    constexpr auto bare = detail::without_spaces<Text>();
    static_assert(detail::einsum_fits<bare, S...>::checked);
    static_assert((einsum_takes<S> && ...),
                  "castnet: einsum takes no images or volumes: cn::reshape_to<cn::row_major_shape<"
                  "a, b, c>> makes other tensors of them; see einsum_takes<shape>");
    if constexpr (detail::mistake_in_einsum<bare, S...>() != detail::einsum_mistake::none ||
                  !(einsum_takes<S> && ...)) {
        return (x, ...); // after the complaint
    } else {
        return detail::einsum_of_symbols<bare>(x...);
    }
}

} // namespace castnet
