// Name as an argument: of a parameter, a column or a metric.
#pragma once

#include <castnet/core/language.hpp>

#include <concepts>
#include <string_view>

namespace castnet {

// Any text. (A std::string_view would also take the number 0, as a null pointer.)
struct name_argument : std::string_view {
    template <std::convertible_to<std::string_view> Text>
    constexpr name_argument(Text const& text) : std::string_view(text) {}

    template <std::integral Number>
    constexpr name_argument(Number) {
        static_assert(!std::integral<Number>,
                      "castnet: found a number, expected a name, such as \"loss\" of a history or "
                      "\"0.weight\" of a parameter");
    }
};

} // namespace castnet
