// Limits of what the header of an image file may ask for.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/image/bitmap.hpp>

namespace castnet::image::detail {

inline constexpr size_t most_pixels = size_t{1} << 28; // 16384 x 16384

inline constexpr size_t most_file_bytes = size_t{1} << 30;

// Throws file_error for an image of no pixel or of more than most_pixels, and for one that `size`
// bytes cannot hold, of which the format puts at most `per_byte` pixels into one: memory is not
// asked for because a header says so.
[[gnu::noinline]] inline void check_size(std::string const& file, size_t width, size_t height,
                                         size_t size, size_t per_byte) {
    if (width == 0 || height == 0) {
        throw file_error(file, {"the image has ", width, " x ", height, " pixels"});
    }
    if (width > most_pixels / height) {
        throw file_error(file, {"the header says ", width, " x ", height,
                                " pixels, expected at most ", most_pixels, " in all"});
    }
    if (width * height / per_byte > size) {
        throw file_error(file, {"the header says ", width, " x ", height,
                                " pixels, which the file's ", size, " bytes cannot hold"});
    }
}

} // namespace castnet::image::detail
