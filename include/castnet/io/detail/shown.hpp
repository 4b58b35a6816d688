// Escaping of text from a file for a message.
#pragma once

#include <castnet/core/text.hpp>

namespace castnet::io::detail {

// In quotes, with everything that is not printable ASCII as an escape, so that no terminal obeys
// it, and cut after 100 characters.
[[gnu::noinline]] inline std::string shown(std::string_view text) {
    constexpr std::size_t longest = 100;
    constexpr char const* hex = "0123456789abcdef";
    std::string quoted = "\"";
    for (char const c : text.substr(0, longest)) {
        auto const code = static_cast<unsigned char>(c);
        if (code < 0x20 || code >= 0x7f) {
            append(quoted, {"\\x", hex[code >> 4], hex[code & 15]});
        } else {
            append(quoted, {c == '"' || c == '\\' ? "\\" : "", c});
        }
    }
    append(quoted, {'"', text.size() > longest ? "..." : ""});
    return quoted;
}

} // namespace castnet::io::detail
