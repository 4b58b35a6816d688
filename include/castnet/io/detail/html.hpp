// Pieces of an HTML page that is XML, too: escaped text, and pictures within the page.
#pragma once

#include <castnet/core/language.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace castnet::io::detail {

// Control characters, which XML does not have, become spaces.
[[gnu::noinline]] inline std::string escaped(std::string_view text) {
    std::string out;
    for (char const c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out += static_cast<unsigned char>(c) < ' ' && c != '\n' ? ' ' : c;
        }
    }
    return out;
}

[[gnu::noinline]] inline std::string base64(std::span<unsigned char const> bytes) {
    static constexpr char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t three = 0;
        std::size_t const count = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t k = 0; k < 3; ++k) {
            three = three << 8 | (k < count ? bytes[i + k] : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            out += k <= count ? digits[three >> (18 - 6 * k) & 63U] : '=';
        }
    }
    return out;
}

// A picture as the address of itself, a bitmap (BMP) of 24 bits a pixel; `colours` has red, green
// and blue of each pixel, row by row.
[[gnu::noinline]] inline std::string picture_address(std::span<unsigned char const> colours,
                                                     std::size_t width, std::size_t height) {
    std::size_t const row = (3 * width + 3) / 4 * 4, header = 54;
    std::string file(header + row * height, '\0');
    auto const put = [&](std::size_t at, std::size_t number, std::size_t bytes) {
        for (std::size_t k = 0; k < bytes; ++k) {
            file[at + k] = static_cast<char>(number >> 8 * k & 255U);
        }
    };
    file[0] = 'B';
    file[1] = 'M';
    put(2, file.size(), 4);
    put(10, header, 4);
    put(14, 40, 4); // bytes of the rest of the header
    put(18, width, 4);
    put(22, height, 4);
    put(26, 1, 2); // planes
    put(28, 24, 2);
    put(34, row * height, 4);
    for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = 0; x < width; ++x) {
            for (std::size_t k = 0; k < 3; ++k) { // from below, and blue first
                unsigned char const colour = colours[((height - 1 - y) * width + x) * 3 + 2 - k];
                file[header + y * row + 3 * x + k] = static_cast<char>(colour);
            }
        }
    }
    auto const* const bytes = reinterpret_cast<unsigned char const*>(file.data());
    return "data:image/bmp;base64," + base64({bytes, file.size()});
}

} // namespace castnet::io::detail
