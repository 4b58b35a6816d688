// Exif data of image files: how the camera was held.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>
#include <span>

namespace castnet::image::detail {

using std::size_t;

// The orientation in Exif data, 1 to 8 if it is valid; 0 where they have none.
[[gnu::noinline]] inline int orientation_in(std::span<unsigned char const> tiff) {
    if (tiff.size() < 8) {
        return 0;
    }
    bool const little = tiff[0] == 'I';
    auto const number = [&](size_t at, size_t count) {
        size_t value = 0;
        for (size_t i = 0; i < count; ++i) {
            value = value << 8 | tiff[at + (little ? count - 1 - i : i)];
        }
        return value;
    };
    size_t const directory = number(4, 4);
    if (directory > tiff.size() || tiff.size() - directory < 2) {
        return 0;
    }
    size_t const entries = number(directory, 2);
    for (size_t i = 0; i < entries && directory + 2 + (i + 1) * 12 <= tiff.size(); ++i) {
        size_t const entry = directory + 2 + i * 12;
        constexpr size_t orientation = 0x0112;
        if (number(entry, 2) == orientation) {
            return static_cast<int>(number(entry + 8, 2));
        }
    }
    return 0;
}

} // namespace castnet::image::detail
