// Wildcard patterns for names: * stands for any characters.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>
#include <string_view>

namespace castnet::detail {

// Whether the whole text is as the pattern says: "head.*" for "head.0.weight", "*.bias".
constexpr bool matches(std::string_view pattern, std::string_view text) {
    std::size_t star = std::string_view::npos, p = 0, t = 0, behind_star = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            behind_star = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) { // the star stands for one character more
            p = star + 1;
            t = ++behind_star;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

} // namespace castnet::detail
