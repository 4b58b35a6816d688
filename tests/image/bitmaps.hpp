// An image that can be made again elsewhere, and digests of images.
#pragma once

#include <castnet/image/bitmap.hpp>

#include <cstdint>

namespace image_test {

inline castnet::image::bitmap some_bitmap(std::size_t width, std::size_t height,
                                          std::size_t channels) {
    castnet::image::bitmap image{width, height, channels};
    for (std::uint64_t i = 0; i < image.pixels.size(); ++i) {
        image.pixels[i] = static_cast<unsigned char>((i * 37 + i * i * 11) % 251);
    }
    return image;
}

// FNV-1a of its bytes.
inline std::uint64_t digest(castnet::image::bitmap const& image) {
    std::uint64_t h = 0xcbf29ce484222325;
    for (unsigned char const byte : image.pixels) {
        h = (h ^ byte) * 0x100000001b3;
    }
    return h;
}

} // namespace image_test
