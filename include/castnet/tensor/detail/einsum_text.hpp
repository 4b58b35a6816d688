// Text of einsum: its parts, what is wrong with it for tensors of some shapes, and the texts for
// its first two operands and for their product with the others.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/core/shape.hpp>

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string_view>

namespace castnet::detail {

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

} // namespace castnet::detail
