#include <castnet/image/file.hpp>
#include <castnet/io/crc32.hpp>

#include "../io/hostile.hpp"
#include "bitmaps.hpp"

#include <cstdlib>
#include <doctest/doctest.h>

using namespace castnet::image;
using castnet::file_error;
using doctest::Contains;
using image_test::some_bitmap;

namespace {

// A smooth image, which a JPEG of high quality keeps nearly as it is.
bitmap gradient(size_t width, size_t height, size_t channels) {
    bitmap image{width, height, channels};
    for (size_t y = 0; y < height; ++y) {
        for (size_t x = 0; x < width; ++x) {
            for (size_t c = 0; c < channels; ++c) {
                image.row(y)[x * channels + c] =
                    static_cast<unsigned char>(40 + (x * 3 + y * 2 + c * 20) % 180);
            }
        }
    }
    return image;
}

int largest_difference(bitmap const& a, bitmap const& b) {
    REQUIRE(a.pixels.size() == b.pixels.size());
    int most = 0;
    for (size_t i = 0; i < a.pixels.size(); ++i) {
        most = std::max(most, std::abs(a.pixels[i] - b.pixels[i]));
    }
    return most;
}

// Exif data that say how the camera was held, in this order of bytes.
bytes exif_of(int orientation, bool little) {
    auto const value = static_cast<unsigned char>(orientation);
    return little ? bytes{'I', 'I', 42, 0, 8, 0,     0, 0, 1, 0, 0x12, 0x01, 3,
                          0,   1,   0,  0, 0, value, 0, 0, 0, 0, 0,    0,    0}
                  : bytes{'M', 'M', 0, 42, 0, 0, 0,     8, 0, 1, 0x01, 0x12, 0,
                          3,   0,   0, 0,  1, 0, value, 0, 0, 0, 0,    0,    0};
}

// The JPEG with the marker APP1.
bytes with_orientation(bytes jpeg, int orientation, bool little) {
    bytes exif{0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0, 0};
    bytes const tiff = exif_of(orientation, little);
    exif.insert(exif.end(), tiff.begin(), tiff.end());
    jpeg.insert(jpeg.begin() + 2, exif.begin(), exif.end());
    return jpeg;
}

// The PNG with the chunk eXIf, so many bytes from its end: before or behind the pixels.
bytes with_chunk(bytes png, size_t from_end, bytes const& exif) {
    bytes chunk{0, 0, 0, static_cast<unsigned char>(exif.size()), 'e', 'X', 'I', 'f'};
    chunk.insert(chunk.end(), exif.begin(), exif.end());
    std::uint32_t const crc = castnet::io::crc32(std::span{chunk}.subspan(4));
    for (int const shift : {24, 16, 8, 0}) {
        chunk.push_back(static_cast<unsigned char>(crc >> shift));
    }
    png.insert(png.end() - static_cast<std::ptrdiff_t>(from_end), chunk.begin(), chunk.end());
    return png;
}

} // namespace

TEST_CASE("a PNG comes back as it was written, a JPEG nearly so") {
    castnet::testing::temporary_directory const folder;
    for (size_t const channels : {size_t{1}, size_t{3}}) {
        bitmap const image = some_bitmap(31, 17, channels), smooth = gradient(33, 19, channels);
        std::string const png = folder.path + "/a.png", jpeg = folder.path + "/a.jpg";
        write(png, image);
        CHECK(read(png, channels).pixels == image.pixels);
        write(jpeg, smooth, 100);
        CHECK(largest_difference(read(jpeg, channels), smooth) <= 12);
    }
    // Read as another number of channels.
    bitmap const colours = some_bitmap(9, 7, 3);
    bytes const content = encode_png(colours);
    CHECK(decode(content, 1, "a").pixels == with_channels(colours, 1).pixels);
    CHECK(decode(encode_jpeg(gradient(16, 16, 1)), 3, "a").channels == 3);
}

TEST_CASE("a JPEG is turned as its Exif data say") {
    bytes const jpeg = encode_jpeg(gradient(32, 16, 3), 95);
    bitmap const upright = decode(jpeg, 3, "a");
    for (int orientation = 1; orientation <= 8; ++orientation) {
        for (bool const little : {true, false}) {
            bitmap const turned = decode(with_orientation(jpeg, orientation, little), 3, "a");
            CHECK(turned.pixels == turn{orientation}.after(upright).pixels);
            CHECK(turned.width == (orientation > 4 ? 16 : 32));
        }
    }
}

TEST_CASE("a PNG is turned as its Exif data say, wherever they are") {
    bitmap const upright = some_bitmap(32, 16, 3);
    bytes const png = encode_png(upright);
    constexpr size_t header = 8 + 25, end = 12; // signature and IHDR, IEND
    for (int orientation = 1; orientation <= 8; ++orientation) {
        for (size_t const from_end : {end, png.size() - header}) {
            bytes const held = with_chunk(png, from_end, exif_of(orientation, orientation % 2));
            CHECK(decode(held, 3, "a").pixels == turn{orientation}.after(upright).pixels);
        }
    }
    CHECK(decode(with_chunk(png, end, {'I', 'I', 42}), 3, "a").pixels == upright.pixels);
}

TEST_CASE("an image that is cut short is refused at every length") {
    for (bytes const& whole : {encode_jpeg(gradient(24, 24, 3)), encode_png(gradient(24, 24, 3))}) {
        CHECK_NOTHROW(decode(whole, 3, "a"));
        for (size_t length = 0; length < whole.size() - 12; length += 7) {
            CAPTURE(length);
            CHECK_THROWS_AS(decode({whole.data(), length}, 3, "a"), file_error);
        }
    }
}

TEST_CASE("a damaged image is refused, or decoded to its size") {
    bytes const jpeg = encode_jpeg(gradient(40, 24, 3)), png = encode_png(gradient(40, 24, 3));
    for (bytes const& whole : {jpeg, png}) {
        for (size_t at = 3; at < whole.size(); at += 5) {
            bytes damaged = whole;
            damaged[at] = static_cast<unsigned char>(damaged[at] ^ 0x5A);
            try {
                bitmap const image = decode(damaged, 3, "a");
                CHECK(image.pixels.size() == image.width * image.height * 3);
            } catch (file_error const&) {
            }
        }
    }
}

TEST_CASE("a header cannot ask for more memory than the file can fill") {
    bytes jpeg = encode_jpeg(gradient(16, 16, 3));
    for (size_t i = 0; i + 8 < jpeg.size(); ++i) { // the frame's header: length, precision, size
        if (jpeg[i] == 0xFF && jpeg[i + 1] == 0xC0) {
            jpeg[i + 5] = jpeg[i + 7] = 0xFF; // 65500, the most that libjpeg takes
            jpeg[i + 6] = jpeg[i + 8] = 0xDC;
            break;
        }
    }
    CHECK_THROWS_WITH_AS(decode(jpeg, 3, "big.jpg"), Contains("65500 x 65500"), file_error);
    bytes png = encode_png(gradient(16, 16, 3));
    png[18] = 0xFF; // and a wrong checksum, which comes first
    CHECK_THROWS_AS(decode(png, 3, "big.png"), file_error);
}

TEST_CASE("a PNG has no more pixels than its bits can make") {
    // A header with a checksum, and a chunk of pixels, which is not looked at.
    auto const png = [](unsigned char bits, unsigned char kind) {
        bytes file{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
        auto const add = [&](bytes const& data) {
            file.insert(file.end(), data.begin(), data.end());
        };
        bytes const header{'I', 'H', 'D', 'R', 0, 0, 0x40, 0, 0, 0, 0x40, 0, bits, kind, 0, 0, 0};
        add({0, 0, 0, 13});
        add(header);
        std::uint32_t const crc = castnet::io::crc32(header);
        for (int const shift : {24, 16, 8, 0}) {
            file.push_back(static_cast<unsigned char>(crc >> shift));
        }
        add({0, 1, 0, 0, 'I', 'D', 'A', 'T'});
        add(bytes(65536));
        return file;
    };
    constexpr unsigned char grey = 0, colours = 2;
    CHECK_THROWS_WITH_AS(decode(png(8, colours), 3, "a"), Contains("bytes cannot hold"),
                         file_error);
    CHECK_THROWS_WITH_AS(decode(png(16, colours), 3, "a"), Contains("bytes cannot hold"),
                         file_error);
    CHECK_THROWS_WITH_AS(decode(png(8, grey), 3, "a"), Contains("bytes cannot hold"), file_error);
    // 65536 * 1032 * 8 pixels of one bit may be: it is the pixels that are damaged.
    CHECK_THROWS_WITH_AS(decode(png(1, grey), 1, "a"), Contains("cannot decode the PNG"),
                         file_error);
}

TEST_CASE("an image that no file holds is refused before its pixels are read") {
    for (size_t const channels : {size_t{0}, size_t{2}, size_t{4}}) {
        bitmap const image{5, 4, channels};
        CHECK_THROWS_WITH_AS(encode_png(image), Contains("encode_png: the image has "),
                             castnet::error);
        CHECK_THROWS_WITH_AS(encode_jpeg(image), Contains("channels, expected 1 (grey) or 3"),
                             castnet::error);
    }
    bitmap image{5, 4, 3};
    image.height = 5;
    CHECK_THROWS_WITH_AS(
        encode_png(image),
        "castnet: encode_png: the image holds 60 bytes, expected 3 for each of its "
        "5 x 5 pixels",
        castnet::error);
    CHECK_THROWS_AS(encode_jpeg(image), castnet::error);
    image.width = size_t{1} << 63; // an even number of them would be 0 bytes
    image.height = 2;
    CHECK_THROWS_AS(encode_png(image), castnet::error);
    for (int const quality : {-1, 0, 101}) {
        CHECK_THROWS_WITH_AS(encode_jpeg(bitmap{5, 4, 3}, quality),
                             Contains("expected a number from 1 to 100"), castnet::error);
    }
}

TEST_CASE("no bytes are no image, also where a format is asked for") {
    CHECK_THROWS_WITH_AS(decode({}, 3, "a"), Contains("the file is empty"), file_error);
    CHECK_THROWS_WITH_AS(decode_jpeg({}, 3, "a"), Contains("cannot decode the JPEG"), file_error);
    CHECK_THROWS_WITH_AS(decode_png({}, 3, "a"), Contains("cannot decode the PNG"), file_error);
}

TEST_CASE("messages name the file and what it is") {
    castnet::testing::temporary_directory const folder;
    auto const message = [&](std::string const& name, std::string const& content) {
        std::string const path = folder.path + '/' + name;
        std::FILE* const out = std::fopen(path.c_str(), "wb");
        std::fwrite(content.data(), 1, content.size(), out);
        std::fclose(out);
        std::string what;
        try {
            read(path);
        } catch (file_error const& e) {
            what = e.what();
        }
        return what;
    };
    CHECK(message("empty.jpg", "") ==
          "castnet: " + folder.path +
              "/empty.jpg: the file is empty, expected a JPEG or PNG image");
    CHECK(message("text.png", "hello") ==
          "castnet: " + folder.path + "/text.png: the file is neither a JPEG nor a PNG image");
    CHECK(message("web.jpg", "RIFF\1\2\3\4WEBPVP8") ==
          "castnet: " + folder.path +
              "/web.jpg: the file is neither a JPEG nor a PNG image, but a RIFF file, such as a "
              "WebP image");
    CHECK_THROWS_WITH_AS(read(folder.path), Contains("is a directory"), file_error);
    CHECK_THROWS_WITH_AS(read(folder.path + "/none.jpg"), Contains("No such file"), file_error);
    CHECK_THROWS_WITH_AS(write(folder.path + "/a.bmp", bitmap{1, 1, 3}), Contains(".png"),
                         file_error);
}
