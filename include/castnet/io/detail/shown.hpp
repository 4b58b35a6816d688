// Escaping of text from a file for a message.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/io/detail/utf8.hpp>

#include <algorithm>

namespace castnet::io::detail {

// In quotes, with control characters, so that no terminal obeys them, and bytes that are not UTF-8
// as escapes, and cut after 100 bytes or a few less, between two characters.
[[gnu::noinline]] inline std::string shown(std::string_view text) {
    constexpr std::size_t longest = 100;
    constexpr char const* hex = "0123456789abcdef";
    auto const code_of = [](char c) { return static_cast<unsigned char>(c); };
    std::string quoted = "\"";
    std::size_t done = 0;
    while (done < text.size()) {
        std::string_view const rest = text.substr(done);
        std::size_t const valid = bytes_of_character(rest), bytes = std::max<std::size_t>(valid, 1);
        if (done + bytes > longest) {
            break;
        }
        auto const first = code_of(rest[0]);
        bool const control = first < 0x20 || first == 0x7f ||
                             (first == 0xC2 && bytes == 2 && code_of(rest[1]) < 0xA0);
        for (char const c : rest.substr(0, bytes)) {
            if (control || valid == 0) {
                append(quoted, {"\\x", hex[code_of(c) >> 4], hex[code_of(c) & 15]});
            } else {
                append(quoted, {c == '"' || c == '\\' ? "\\" : "", c});
            }
        }
        done += bytes;
    }
    append(quoted, {'"', done < text.size() ? "..." : ""});
    return quoted;
}

} // namespace castnet::io::detail
