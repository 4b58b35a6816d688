// UTF-8: validation of text and encoding of code points.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace castnet::io::detail {

// The bytes of the first character, or 0 where it is not valid as of RFC 3629: no overlong forms,
// no surrogates, nothing above U+10FFFF. Not of an empty text.
[[gnu::noinline]] inline std::size_t bytes_of_character(std::string_view text) {
    auto const lead = static_cast<unsigned char>(text[0]);
    unsigned const more = lead < 0x80                    ? 0
                          : lead >= 0xC2 && lead <= 0xDF ? 1
                          : lead >= 0xE0 && lead <= 0xEF ? 2
                          : lead >= 0xF0 && lead <= 0xF4 ? 3
                                                         : 4;
    if (more == 4 || text.size() <= more) {
        return 0;
    }
    for (unsigned k = 1; k <= more; ++k) {
        auto const next = static_cast<unsigned char>(text[k]);
        // The lead narrows what may follow it: that rules out overlong forms and surrogates.
        unsigned char const low = k > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
        unsigned char const high = k > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
        if (next < low || next > high) {
            return 0;
        }
    }
    return more + 1;
}

[[gnu::noinline]] inline bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        std::size_t const bytes = bytes_of_character(text);
        if (bytes == 0) {
            return false;
        }
        text.remove_prefix(bytes);
    }
    return true;
}

[[gnu::noinline]] inline void append_utf8(std::string& text, std::uint32_t code) {
    auto const put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | code >> 6);
        put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    }
}

} // namespace castnet::io::detail
