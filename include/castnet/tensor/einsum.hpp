// Sums of products by Einstein's convention, einsum<"ij,jk->ik">(a, b), with the text checked while
// compiling: a letter for each axis of each operand, and after the arrow those of the result.
// Letters that the result lacks are summed over; a letter twice in one operand is its diagonal. As
// numpy.einsum with an explicit result; "..." is not supported, spaces do not count. Computed at
// once; of two operands on the host by matmul, where the text describes products of matrices,
// whatever the order of their axes; of more in pairs from the first on, where that is less work.
// Operands are tensors with names, or views.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/tensor/elementwise.hpp>
#include <castnet/tensor/matmul.hpp>
#include <castnet/tensor/reduce.hpp>
#include <castnet/tensor/views.hpp>

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

namespace castnet {

namespace detail {

// The place of a letter in a text, or its length. (std::string_view's find() asks whether an
// address is null, which g++ 12 does not know of template arguments with -fsanitize=undefined, GCC
// bug 71962.)
constexpr size_t place_of(char letter, std::string_view text) {
    size_t i = 0;
    while (i < text.size() && text[i] != letter) {
        ++i;
    }
    return i;
}

// The text in parts.
struct einsum_text {
    std::string_view operand[8] = {};
    size_t operands = 0;
    std::string_view result;
    bool has_arrow = false;

    constexpr explicit einsum_text(std::string_view text) {
        size_t arrow = 0;
        while (arrow < text.size() && !text.substr(arrow).starts_with("->")) {
            ++arrow;
        }
        has_arrow = arrow < text.size();
        std::string_view left = text.substr(0, arrow);
        result = has_arrow ? text.substr(arrow + 2) : std::string_view{};
        for (bool more = true; more && operands < 8;) {
            size_t const comma = place_of(',', left);
            more = comma < left.size();
            operand[operands++] = left.substr(0, comma);
            left = more ? left.substr(comma + 1) : std::string_view{};
        }
    }

    struct letters {
        char at[64] = {};
        size_t count = 0;
        constexpr std::string_view view() const { return {at, count}; }
        constexpr bool has(char c) const { return place_of(c, view()) < count; }
        constexpr void add(char c) { at[count++] = c; }
        constexpr void add_new(std::string_view text) {
            for (char const c : text) {
                if (!has(c)) {
                    add(c);
                }
            }
        }
        constexpr letters and_then(letters const& more) const {
            letters both = *this;
            for (char const c : more.view()) {
                both.add(c);
            }
            return both;
        }
    };
    // All letters: those of the result, then those that are summed over.
    constexpr letters all() const {
        letters l;
        for (char const c : result) {
            l.add(c);
        }
        for (size_t i = 0; i < operands; ++i) {
            l.add_new(operand[i]);
        }
        return l;
    }
    // Those of a product and of operand i: those of both first, as products of matrices have them.
    constexpr letters with_operand(letters const& product, size_t i) const {
        letters l;
        for (char const c : product.view()) {
            if (place_of(c, operand[i]) < operand[i].size()) {
                l.add(c);
            }
        }
        l.add_new(product.view());
        l.add_new(operand[i]);
        return l;
    }
    // Those among letters that operands after operand i have, or the result.
    constexpr letters needed_after(size_t i, letters const& among) const {
        letters later, needed;
        later.add_new(result);
        for (size_t k = i + 1; k < operands; ++k) {
            later.add_new(operand[k]);
        }
        for (char const c : among.view()) {
            if (later.has(c)) {
                needed.add(c);
            }
        }
        return needed;
    }
    // The letters that the first of two operands, the second one and the result have, or have not.
    constexpr letters of(bool in_first, bool in_second, bool in_result) const {
        auto const has = [](std::string_view text, char c) {
            return place_of(c, text) < text.size();
        };
        letters found;
        letters const every = all();
        for (char const c : every.view()) {
            if (has(operand[0], c) == in_first && has(operand[1], c) == in_second &&
                has(result, c) == in_result) {
                found.add(c);
            }
        }
        return found;
    }
    // Whether the result consists of products of matrices.
    constexpr bool is_product() const {
        if (operands != 2) {
            return false;
        }
        letters const batch = of(true, true, true), left = of(true, false, true);
        letters const right = of(false, true, true), summed = of(true, true, false);
        return summed.count > 0 && left.count + right.count > 0 &&
               operand[0].size() == batch.count + left.count + summed.count &&
               operand[1].size() == batch.count + right.count + summed.count;
    }
    constexpr bool result_is_known() const {
        for (size_t i = 0; i < result.size(); ++i) {
            bool known = place_of(result[i], result) == i; // once
            bool among = false;
            for (size_t k = 0; k < operands; ++k) {
                among = among || place_of(result[i], operand[k]) < operand[k].size();
            }
            if (!known || !among) {
                return false;
            }
        }
        return true;
    }
};

template <fixed_string Text>
constexpr auto without_spaces() {
    constexpr size_t count = [] {
        size_t others = 0;
        for (char const c : Text.view()) {
            others += c != ' ' ? 1 : 0;
        }
        return others;
    }();
    char text[count + 1]{};
    size_t end = 0;
    for (char const c : Text.view()) {
        if (c != ' ') {
            text[end++] = c;
        }
    }
    return fixed_string{text};
}

template <fixed_string Text> // without spaces
inline constexpr einsum_text einsum_of{Text.view()};

// The extent of a letter: that of the first axis that it names.
template <fixed_string Text, class... S>
constexpr size_t einsum_extent(char letter) {
    size_t extent = 0, operand = 0;
    auto const look = [&]<class One>(One) {
        std::string_view const names = einsum_of<Text>.operand[operand++];
        for (size_t axis = 0; axis < One::rank && axis < names.size(); ++axis) {
            if (names[axis] == letter && extent == 0) {
                extent = One::extent[axis];
            }
        }
    };
    (look(S{}), ...);
    return extent;
}

template <fixed_string Text, class... S>
constexpr bool einsum_ranks_fit() {
    size_t operand = 0;
    return ((einsum_of<Text>.operand[operand++].size() == S::rank) && ...);
}
template <fixed_string Text, class... S>
constexpr bool einsum_extents_agree() {
    bool agree = true;
    size_t operand = 0;
    auto const look = [&]<class One>(One) {
        std::string_view const names = einsum_of<Text>.operand[operand++];
        for (size_t axis = 0; axis < One::rank && axis < names.size(); ++axis) {
            agree = agree && One::extent[axis] == einsum_extent<Text, S...>(names[axis]);
        }
    };
    (look(S{}), ...);
    return agree;
}

template <fixed_string Text>
constexpr bool einsum_has_letters() {
    for (char const c : Text.view()) {
        bool const is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && c != ',' && c != '-' && c != '>') {
            return false;
        }
    }
    return true;
}

enum class einsum_mistake : std::uint8_t { none, letters, result, axes, extents };

// The first mistake in a call.
template <fixed_string Text, class... S>
constexpr einsum_mistake mistake_in_einsum() {
    constexpr auto& text = einsum_of<Text>;
    if constexpr (!einsum_has_letters<Text>()) {
        return einsum_mistake::letters;
    } else if constexpr (!text.has_arrow || !text.result_is_known()) {
        return einsum_mistake::result;
    } else if constexpr (text.operands != sizeof...(S) || !einsum_ranks_fit<Text, S...>()) {
        return einsum_mistake::axes;
    } else if constexpr (!einsum_extents_agree<Text, S...>()) {
        return einsum_mistake::extents;
    } else {
        return einsum_mistake::none;
    }
}

// A class, so that every compiler prints its arguments.
template <fixed_string Text, class... S>
struct einsum_fits {
    static constexpr auto mistake = mistake_in_einsum<Text, S...>();
    static_assert(mistake != einsum_mistake::letters,
                  "castnet: einsum names axes by letters, with a comma between operands and -> "
                  "before the result; it does not support \"...\"; see einsum_fits<text, "
                  "shapes...>");
    static_assert(mistake != einsum_mistake::result,
                  "castnet: einsum needs -> and the letters of the result after it, each once and "
                  "among those of the operands; see einsum_fits<text, shapes...>");
    static_assert(mistake != einsum_mistake::axes,
                  "castnet: einsum needs, for each operand, a letter for each of its axes; see "
                  "einsum_fits<text, shapes...>");
    static_assert(mistake != einsum_mistake::extents,
                  "castnet: einsum: the axes of one letter differ in their extents; see "
                  "einsum_fits<text, shapes...>");
    static constexpr bool checked = true;
};

// The number of indices that letters have; of all in one loop, or summed over products of two
// operands, of which the first is the product of those before.
template <fixed_string Text, class... S>
constexpr double einsum_count(einsum_text::letters const& letters) {
    double count = 1;
    for (char const c : letters.view()) {
        count *= static_cast<double>(einsum_extent<Text, S...>(c));
    }
    return count;
}
template <fixed_string Text, class... S>
constexpr double einsum_count_in_pairs() {
    constexpr auto& text = einsum_of<Text>;
    einsum_text::letters product;
    product.add_new(text.operand[0]);
    double count = 0;
    for (size_t i = 1; i < text.operands; ++i) {
        auto const both = text.with_operand(product, i);
        count += einsum_count<Text, S...>(both);
        product = text.needed_after(i, both);
    }
    return count;
}

// The text for the first two operands, and that for their product and the others, with spaces
// after them.
template <fixed_string Text>
struct einsum_pair {
    char first[2 * sizeof(Text.text)], then[2 * sizeof(Text.text)];

    constexpr einsum_pair() {
        constexpr auto& text = einsum_of<Text>;
        einsum_text::letters one;
        one.add_new(text.operand[0]);
        auto const product = text.needed_after(1, text.with_operand(one, 1));
        write(first, {text.operand[0], ",", text.operand[1], "->", product.view()});
        auto const others = Text.view().substr(text.operand[0].size() + 1 + text.operand[1].size());
        write(then, {product.view(), others});
    }
    static constexpr void write(auto& to, std::initializer_list<std::string_view> parts) {
        size_t end = 0;
        for (std::string_view const part : parts) {
            for (char const c : part) {
                to[end++] = c;
            }
        }
        while (end < std::size(to)) {
            to[end++] = ' ';
        }
        to[end - 1] = 0;
    }
};

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

// Whether einsum takes less time pair by pair. (Numbers are not rounded to floats where a later
// operand is of doubles.)
template <fixed_string Text, class... X>
inline constexpr bool is_better_in_pairs = false;
template <fixed_string Text, class A, class B, class C, class... X>
inline constexpr bool is_better_in_pairs<Text, A, B, C, X...> =
    std::is_same_v<common_value_t<A, B>, common_value_t<A, B, C, X...>> &&
    einsum_count_in_pairs<Text, typename A::shape_type, typename B::shape_type,
                          typename C::shape_type, typename X::shape_type...>() <
        einsum_count<Text, typename A::shape_type, typename B::shape_type, typename C::shape_type,
                     typename X::shape_type...>(einsum_of<Text>.all());

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
