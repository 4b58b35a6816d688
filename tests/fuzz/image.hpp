// Fuzz target of image files.
#pragma once

#include <castnet/image/file.hpp>
#include <castnet/image/resize.hpp>

#include "readers.hpp"

namespace castnet::fuzz {

// What is decoded has its size, and can be resized and written; a part is that of the whole image.
inline void image(std::span<unsigned char const> content) {
    for (size_t const channels : {size_t{1}, size_t{3}}) {
        accepted([&] {
            using castnet::image::draft;
            castnet::image::bitmap const decoded =
                castnet::image::decode(content, channels, "fuzz");
            require(decoded.channels == channels);
            require(decoded.pixels.size() == decoded.width * decoded.height * channels);
            auto const middle = [](size_t width, size_t height) {
                return data::rectangle{width / 3, height / 4, (width + 2) / 3, (height + 1) / 2};
            };
            auto const part = castnet::image::decode_part(content, channels, "fuzz", middle);
            require(part.pixels == cropped(decoded, middle(decoded.width, decoded.height)).pixels);
            draft const half{decoded.width / 2, decoded.height / 3};
            auto const reduced = castnet::image::decode(content, channels, "fuzz", half);
            require(reduced.width >= half.width && reduced.height >= half.height);
            auto const of_it = castnet::image::decode_part(content, channels, "fuzz", middle, half);
            require(of_it.pixels.size() == of_it.width * of_it.height * channels);
            if (decoded.pixels.size() < 100000) {
                auto const small = resize(decoded, 5, 3);
                auto const again =
                    castnet::image::decode(castnet::image::encode_png(small), channels, "again");
                require(again.pixels == small.pixels);
            }
        });
    }
}

} // namespace castnet::fuzz
