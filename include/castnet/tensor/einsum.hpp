// Sums of products by Einstein's convention, einsum<"ij,jk->ik">(a, b), with the text checked while
// compiling: a letter for each axis of each operand, and after the arrow those of the result.
// Letters that the result lacks are summed over; a letter twice in one operand is its diagonal. As
// numpy.einsum with an explicit result. Computed at once; of two operands on the host by matmul,
// where the text describes products of matrices, whatever the order of their axes. Operands are
// tensors with names, or views.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/tensor/elementwise.hpp>
#include <castnet/tensor/matmul.hpp>
#include <castnet/tensor/reduce.hpp>
#include <castnet/tensor/views.hpp>

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
            for (char const c : operand[i]) {
                if (!l.has(c)) {
                    l.add(c);
                }
            }
        }
        return l;
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

// Classes, so that every compiler prints their arguments.
template <fixed_string Text, class... S>
struct einsum_fits {
    static_assert(einsum_of<Text>.has_arrow && einsum_of<Text>.result_is_known(),
                  "castnet: einsum needs -> and the letters of the result after it, each once and "
                  "among those of the operands; see einsum_fits<text, shapes...>");
    static_assert(einsum_of<Text>.operands == sizeof...(S) && einsum_ranks_fit<Text, S...>(),
                  "castnet: einsum needs, for each operand, a letter for each of its axes; see "
                  "einsum_fits<text, shapes...>");
    static constexpr bool checked = true;
};
template <bool Agree, fixed_string Text, class... S>
struct einsum_agrees {
    static_assert(Agree, "castnet: einsum: the axes of one letter differ in their extents; see "
                         "einsum_agrees<agree, text, shapes...>");
    static constexpr bool checked = true;
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

} // namespace detail

template <fixed_string Text, TensorExpression... X>
auto einsum(X const&... x) {
    static_assert(detail::einsum_fits<Text, typename X::shape_type...>::checked);
    static_assert(
        detail::einsum_agrees<detail::einsum_extents_agree<Text, typename X::shape_type...>(), Text,
                              typename X::shape_type...>::checked);
    constexpr auto text = detail::einsum_of<Text>;
    constexpr bool by_matmul = text.is_product() &&
                               std::is_floating_point_v<detail::common_value_t<X...>> &&
                               detail::is_host<detail::device_of_operands<X...>>;
    if constexpr (by_matmul) {
        return detail::einsum_product<Text>(detail::view_of(x)...);
    } else {
        constexpr auto letters = text.all();
        constexpr size_t kept = text.result.size();
        using all = detail::einsum_shape<Text, letters, typename X::shape_type...>;
        auto const product = [&]<size_t... Operand>(std::index_sequence<Operand...>) {
            auto const multiply = [](auto const& multiply_more, auto first, auto... more) {
                if constexpr (sizeof...(more) == 0) {
                    return first;
                } else {
                    return first * multiply_more(multiply_more, more...);
                }
            };
            return multiply(multiply, detail::along_letters<Text, Operand, letters, all>(
                                          detail::view_of(x))...);
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
}

} // namespace castnet
