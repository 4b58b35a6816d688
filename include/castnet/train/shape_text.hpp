// Text of a shape for tables and messages: (64, 3, 3).
#pragma once

#include <castnet/core/text.hpp>

#include <string>

namespace castnet::detail {

template <class Extents>
[[gnu::noinline]] std::string shape_text(Extents const& extents) {
    std::string text = "(";
    for (auto const extent : extents) {
        append(text, {text.size() > 1 ? ", " : "", extent});
    }
    text += ')';
    return text;
}

} // namespace castnet::detail
