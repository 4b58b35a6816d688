// Image files: JPEG and PNG, by their first bytes when read and by their name when written.
#pragma once

#include <castnet/image/jpeg.hpp>
#include <castnet/image/png.hpp>
#include <castnet/io/atomic_file.hpp>
#include <castnet/io/detail/other_format.hpp>

namespace castnet::image {

// Decodes a part of a JPEG or PNG file in memory, the rectangle that choose(width, height) returns;
// see decode_jpeg_part and decode_png. Only a JPEG is decoded as a draft.
template <class Choose>
[[gnu::noinline]] bitmap decode_part(std::span<unsigned char const> content, size_t channels,
                                     std::string const& file, Choose const& choose,
                                     draft const& to = {}) {
    constexpr unsigned char jpeg[] = {0xFF, 0xD8, 0xFF}, png[] = {0x89, 'P', 'N', 'G'};
    auto const begins_with = [&](std::span<unsigned char const> magic) {
        return content.size() >= magic.size() &&
               std::equal(magic.begin(), magic.end(), content.begin());
    };
    if (begins_with(jpeg)) {
        return decode_jpeg_part(content, channels, file, choose, to);
    }
    if (begins_with(png)) {
        bitmap image = decode_png(content, channels, file);
        rectangle const part = choose(image.width, image.height);
        bool const whole = part.width == image.width && part.height == image.height;
        return whole ? std::move(image) : cropped(image, part);
    }
    if (content.empty()) {
        throw file_error(file, "the file is empty, expected a JPEG or PNG image");
    }
    std::string_view const first{reinterpret_cast<char const*>(content.data()), content.size()};
    throw file_error(
        file, {"the file is neither a JPEG nor a PNG image", io::detail::other_format(first)});
}

// Decodes a JPEG or PNG file in memory; see decode_jpeg and decode_png.
[[gnu::noinline]] inline bitmap decode(std::span<unsigned char const> content, size_t channels,
                                       std::string const& file, draft const& to = {}) {
    return decode_part(content, channels, file, whole_image, to);
}

// Reads a JPEG or PNG file as one channel (grey) or three (red, green, blue). Throws file_error
// where it cannot be read; see decode().
[[gnu::noinline]] inline bitmap read(std::string const& path, size_t channels = 3,
                                     draft const& to = {}) {
    return decode(io::read_file(path, detail::most_file_bytes), channels, path, to);
}

// Reads a part of such a file; see decode_part().
template <class Choose>
[[gnu::noinline]] bitmap read_part(std::string const& path, size_t channels, Choose const& choose,
                                   draft const& to = {}) {
    return decode_part(io::read_file(path, detail::most_file_bytes), channels, path, choose, to);
}

// Writes a file whose name ends in .jpg, .jpeg or .png. Throws file_error where that fails, or for
// another name.
[[gnu::noinline]] inline void write(std::string const& path, bitmap const& image,
                                    int quality = 90) {
    bool const jpeg = path.ends_with(".jpg") || path.ends_with(".jpeg");
    if (!jpeg && !path.ends_with(".png")) {
        throw file_error(path, "an image is written as .jpg, .jpeg or .png");
    }
    io::atomic_file file{path};
    file.write(jpeg ? encode_jpeg(image, quality) : encode_png(image));
    file.commit();
}

} // namespace castnet::image
