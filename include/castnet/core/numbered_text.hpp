// A text with a number behind it, as a constant: "top_" and 5 make "top_5".
#pragma once

#include <castnet/core/fixed_string.hpp>

#include <cstddef>

namespace castnet::detail {

template <fixed_string Text, std::size_t Number>
constexpr auto numbered() {
    constexpr std::size_t digits = [] {
        std::size_t count = 1;
        for (std::size_t rest = Number; rest >= 10; rest /= 10) {
            ++count;
        }
        return count;
    }();
    constexpr std::size_t length = Text.view().size();
    char text[length + digits + 1]{};
    for (std::size_t i = 0; i < length; ++i) {
        text[i] = Text.text[i];
    }
    std::size_t rest = Number;
    for (std::size_t i = length + digits; i-- > length; rest /= 10) {
        text[i] = static_cast<char>('0' + rest % 10);
    }
    return fixed_string{text};
}

} // namespace castnet::detail
