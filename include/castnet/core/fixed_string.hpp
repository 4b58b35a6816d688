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

} // namespace castnet
