// Mark of the order of bytes that editors write in front of a text.
#pragma once

#include <castnet/core/error.hpp>

#include <string_view>

namespace castnet::io::detail {

// The bytes of a UTF-8 text's mark, or 0. Throws file_error for the mark of UTF-16.
[[gnu::noinline]] inline std::size_t byte_order_mark(std::string_view text,
                                                     std::string const& file) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
        throw file_error(file, "the text is in UTF-16, expected UTF-8; save it as that");
    }
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.starts_with(mark) ? mark.size() : 0;
}

} // namespace castnet::io::detail
