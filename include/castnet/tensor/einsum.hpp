// Sums of products by Einstein's convention, einsum<"ij,jk->ik">(a, b), with the text checked while
// compiling: a letter for each axis of each operand, and after the arrow those of the result.
// Letters that the result lacks are summed over; a letter twice in one operand is its diagonal. As
// numpy.einsum with an explicit result. Computed at once: products of large matrices are faster by
// matmul. Operands are
// tensors with names, or views.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/tensor/elementwise.hpp>
#include <castnet/tensor/reduce.hpp>
#include <castnet/tensor/views.hpp>

#include <array>
#include <string_view>
#include <utility>

namespace castnet {

namespace detail {

// The text in parts.
struct einsum_text {
    std::string_view operand[8] = {};
    size_t operands = 0;
    std::string_view result;
    bool has_arrow = false;

    constexpr explicit einsum_text(std::string_view text) {
        size_t const arrow = text.find("->");
        has_arrow = arrow != text.npos;
        std::string_view left = text.substr(0, arrow);
        result = has_arrow ? text.substr(arrow + 2) : std::string_view{};
        for (bool more = true; more && operands < 8;) {
            size_t const comma = left.find(',');
            more = comma != left.npos;
            operand[operands++] = left.substr(0, comma);
            left = more ? left.substr(comma + 1) : std::string_view{};
        }
    }

    // All letters: those of the result, then those that are summed over.
    struct letters {
        char at[64] = {};
        size_t count = 0;
        constexpr bool has(char c) const { return std::string_view(at, count).find(c) < count; }
    };
    constexpr letters all() const {
        letters l;
        for (char const c : result) {
            l.at[l.count++] = c;
        }
        for (size_t i = 0; i < operands; ++i) {
            for (char const c : operand[i]) {
                if (!l.has(c)) {
                    l.at[l.count++] = c;
                }
            }
        }
        return l;
    }
    constexpr bool result_is_known() const {
        for (size_t i = 0; i < result.size(); ++i) {
            bool known = result.find(result[i]) == i; // once
            bool among = false;
            for (size_t k = 0; k < operands; ++k) {
                among = among || operand[k].find(result[i]) != std::string_view::npos;
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

// An operand as seen along all letters: strides of 0 along those that it lacks.
template <fixed_string Text, size_t Operand, class All, class T, class S, class Strides,
          class Device, size_t... I>
auto along_letters(tensor_view<T, S, Strides, Device> x, std::index_sequence<I...>) {
    constexpr auto step = [](char letter) {
        size_t sum = 0;
        for (size_t axis = 0; axis < S::rank; ++axis) {
            sum += einsum_of<Text>.operand[Operand][axis] == letter ? Strides::step[axis] : 0;
        }
        return sum;
    };
    constexpr auto letters = einsum_of<Text>.all();
    return tensor_view<T const, All, strides<step(letters.at[I])...>, Device>{x.data()};
}

} // namespace detail

template <fixed_string Text, TensorExpression... X>
auto einsum(X const&... x) {
    static_assert(detail::einsum_fits<Text, typename X::shape_type...>::checked);
    static_assert(
        detail::einsum_agrees<detail::einsum_extents_agree<Text, typename X::shape_type...>(), Text,
                              typename X::shape_type...>::checked);
    constexpr auto letters = detail::einsum_of<Text>.all();
    constexpr size_t kept = detail::einsum_of<Text>.result.size();
    constexpr auto every = std::make_index_sequence<letters.count>{};
    using all = decltype([]<size_t... I>(std::index_sequence<I...>) {
        return shape<detail::einsum_extent<Text, typename X::shape_type...>(letters.at[I])...>{};
    }(every));
    auto const product = [&]<size_t... Operand>(std::index_sequence<Operand...>) {
        auto const multiply = [](auto const& multiply_more, auto first, auto... more) {
            if constexpr (sizeof...(more) == 0) {
                return first;
            } else {
                return first * multiply_more(multiply_more, more...);
            }
        };
        return multiply(multiply,
                        detail::along_letters<Text, Operand, all>(detail::view_of(x), every)...);
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

} // namespace castnet
