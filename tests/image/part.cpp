#include <castnet/image/file.hpp>

#include "../io/hostile.hpp"
#include "bitmaps.hpp"

#include <doctest/doctest.h>

using namespace castnet;
using namespace castnet::image;
using image_test::some_bitmap;

namespace {

// A JPEG whose colours stand for across x down pixels.
bytes encoded(bitmap const& image, int across, int down, bool progressive) {
    image::detail::jpeg_errors errors;
    jpeg_compress_struct jpeg{};
    unsigned char* out = nullptr;
    unsigned long size = 0;
    jpeg.err = &errors.manager;
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &out, &size);
    jpeg.image_width = static_cast<JDIMENSION>(image.width);
    jpeg.image_height = static_cast<JDIMENSION>(image.height);
    jpeg.input_components = static_cast<int>(image.channels);
    jpeg.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg.comp_info[0].h_samp_factor = across;
    jpeg.comp_info[0].v_samp_factor = down;
    if (progressive) {
        jpeg_simple_progression(&jpeg);
    }
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        auto* row = const_cast<JSAMPROW>(image.row(jpeg.next_scanline));
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    bytes content(out, out + size);
    std::free(out);
    return content;
}

// Parts at all sides, and many others.
template <class F>
void for_each_part(size_t width, size_t height, F const& f) {
    f(rectangle{0, 0, width, height});
    f(rectangle{0, 0, 1, 1});
    f(rectangle{width - 1, height - 1, 1, 1});
    f(rectangle{0, height - 1, width, 1});
    for (std::uint32_t i = 0; i < 40; ++i) {
        auto const random = philox({i, 0, 0, 0}, key_of(5));
        rectangle part{random.x0 % width, random.x1 % height, 0, 0};
        part.width = 1 + random.x2 % (width - part.x);
        part.height = 1 + random.x3 % (height - part.y);
        f(part);
    }
}

void check_parts(bytes const& content, size_t channels) {
    bitmap const whole = decode(content, channels, "a");
    for_each_part(whole.width, whole.height, [&](rectangle const& part) {
        bitmap const found = decode_part(content, channels, "a", [&](size_t width, size_t height) {
            CHECK(width == whole.width);
            CHECK(height == whole.height);
            return part;
        });
        CAPTURE(part.x);
        CAPTURE(part.y);
        CAPTURE(part.width);
        CAPTURE(part.height);
        CHECK(found.width == part.width);
        CHECK(found.pixels == cropped(whole, part).pixels);
    });
}

} // namespace

TEST_CASE("a part of an image has the pixels of the whole one") {
    bitmap const image = some_bitmap(121, 83, 3);
    for (int const across : {1, 2, 4}) {
        for (int const down : {1, 2}) {
            for (bool const progressive : {false, true}) {
                CAPTURE(across);
                CAPTURE(down);
                CAPTURE(progressive);
                bytes const content = encoded(image, across, down, progressive);
                check_parts(content, 3);
                check_parts(content, 1);
            }
        }
    }
    check_parts(encoded(some_bitmap(50, 40, 1), 1, 1, false), 1);
    check_parts(encode_png(image), 3);
    for (std::string const name : {"inks.jpg", "turned.jpg", "restart.jpg"}) {
        CAPTURE(name);
        check_parts(io::read_file(std::string{CASTNET_TEST_DATA} + "/../fuzz/seeds/image/" + name),
                    3);
    }
}

TEST_CASE("a part of a turned image is that of the turned one") {
    bitmap const image = some_bitmap(13, 9, 3);
    for (int orientation = 0; orientation <= 9; ++orientation) {
        turn const held{orientation};
        bitmap const turned = held.after(image);
        for_each_part(turned.width, turned.height, [&](rectangle const& part) {
            auto const before = held.before(part, image.width, image.height);
            CHECK(held.after(cropped(image, before)).pixels == cropped(turned, part).pixels);
        });
    }
}

TEST_CASE("a part of an image that is cut short, or damaged, is decoded or refused") {
    bytes const whole = encoded(some_bitmap(121, 83, 3), 2, 2, false);
    auto const middle = [](size_t width, size_t height) {
        return rectangle{width / 3, height / 3, width / 3, height / 3};
    };
    for (size_t length = 0; length < whole.size() / 2; length += 9) {
        CHECK_THROWS_AS(decode_part({whole.data(), length}, 3, "a", middle), file_error);
    }
    castnet::testing::check_mutations(whole, 6, 1000, [&](bytes const& damaged) {
        bitmap const part = decode_part(damaged, 3, "a", middle);
        CHECK(part.pixels.size() == part.width * part.height * 3);
    });
}

#ifdef LIBJPEG_TURBO_VERSION_NUMBER
TEST_CASE("a draft has the pixels of Pillow's (resize_golden.py)") {
    struct row {
        std::string file;
        size_t width, height;
        std::uint64_t digest;
    };
    for (row const& r : std::vector<row>{
             {"baseline", 8, 6, 0xe9cc8acfeb51daea},
             {"baseline", 5, 3, 0xe9cc8acfeb51daea},
             {"baseline", 4, 2, 0x3e8889225f1a0245},
             {"baseline", 2, 1, 0x00854ef7089dc786},
             {"progressive", 8, 6, 0xe9cc8acfeb51daea},
             {"progressive", 5, 3, 0xe9cc8acfeb51daea},
             {"progressive", 4, 2, 0x3e8889225f1a0245},
             {"progressive", 2, 1, 0x00854ef7089dc786},
             {"grey", 8, 6, 0xd54e3698d1a444c2},
             {"grey", 5, 3, 0xd54e3698d1a444c2},
             {"grey", 4, 2, 0x8bebe85780a7198e},
             {"grey", 2, 1, 0x9c35851d56329f7d},
             {"restart", 8, 6, 0xe9cc8acfeb51daea},
             {"restart", 5, 3, 0xe9cc8acfeb51daea},
             {"restart", 4, 2, 0x3e8889225f1a0245},
             {"restart", 2, 1, 0x00854ef7089dc786},
         }) {
        CAPTURE(r.file);
        CAPTURE(r.width);
        auto const path =
            std::string{CASTNET_TEST_DATA} + "/../fuzz/seeds/image/" + r.file + ".jpg";
        CHECK(image_test::digest(read(path, 3, {r.width, r.height})) == r.digest);
    }
}
#endif

TEST_CASE("a part of a draft is that of the reduced image") {
    bitmap const image = some_bitmap(121, 83, 3);
    for (bool const progressive : {false, true}) {
        bytes const content = encoded(image, 2, 2, progressive);
        for (size_t const by : {size_t{2}, size_t{4}, size_t{8}}) {
            bitmap const whole = decode(content, 3, "a", {121 / by, 83 / by});
            CHECK(whole.width == (121 + by - 1) / by);
            CHECK(whole.height == (83 + by - 1) / by);
            for_each_part(121, 83, [&](rectangle const& part) {
                draft const to{std::max<size_t>(part.width / by, 1),
                               std::max<size_t>(part.height / by, 1)};
                auto const choose = [&](size_t, size_t) { return part; };
                size_t const found = image::detail::reduction_of(part, to);
                if (found == by && part.width < 121) {
                    rectangle const there{part.x / by, part.y / by, part.width / by,
                                          part.height / by};
                    CHECK(decode_part(content, 3, "a", choose, to).pixels ==
                          cropped(whole, there).pixels);
                }
            });
        }
    }
    CHECK(decode(encode_png(image), 3, "a", {1, 1}).pixels == image.pixels);
    auto const file = std::string{CASTNET_TEST_DATA} + "/../fuzz/seeds/image/turned.jpg";
    bitmap const turned = read(file, 3, {6, 8}); // 16 x 12 before it is turned
    CHECK(turned.width == 6);
    CHECK(turned.height == 8);
}
