// fixed_string: text as a template argument, as in named<"conv1", conv2d<64, 3>>.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>
#include <string_view>

namespace castnet {

template <std::size_t N>
struct fixed_string {
    char text[N]{};

    constexpr fixed_string(char const (&literal)[N]) {
        for (std::size_t i = 0; i < N; ++i) {
            text[i] = literal[i];
        }
    }

    constexpr std::string_view view() const { return {text, N - 1}; }
};

namespace detail {

// A text with a number appended, as a constant.
template <fixed_string Text, size_t Number>
constexpr auto numbered() {
    constexpr size_t digits = [] {
        size_t count = 1;
        for (size_t rest = Number; rest >= 10; rest /= 10) {
            ++count;
        }
        return count;
    }();
    constexpr size_t length = Text.view().size();
    char text[length + digits + 1]{};
    for (size_t i = 0; i < length; ++i) {
        text[i] = Text.text[i];
    }
    size_t rest = Number;
    for (size_t i = length + digits; i-- > length; rest /= 10) {
        text[i] = static_cast<char>('0' + rest % 10);
    }
    return fixed_string{text};
}

} // namespace detail

} // namespace castnet
