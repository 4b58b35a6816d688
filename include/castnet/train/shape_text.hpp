// Text of a shape for tables and messages: (64, 3, 3).
#pragma once

#include <castnet/core/text.hpp>

#include <string>

namespace castnet::detail {

template <class Extent>
[[gnu::cold]] std::string shape_text(Extent const* extents, int rank) {
    std::string text = "(";
    for (int i = 0; i < rank; ++i) {
        append(text, {i > 0 ? ", " : "", extents[i]});
    }
    text += ')';
    return text;
}

} // namespace castnet::detail
