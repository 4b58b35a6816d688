// The expected digests are those of Pillow 13.0 (resize_golden.py).
#include <castnet/core/error.hpp>
#include <castnet/image/resize.hpp>

#include "bitmaps.hpp"

#include <doctest/doctest.h>

using namespace castnet::image;
using image_test::digest;
using image_test::some_bitmap;

namespace {

struct resized {
    size_t width, height, channels, to_width, to_height;
    rectangle part;
    interpolation kind;
    std::uint64_t expected;
};
constexpr resized pillow[] = {
    {23, 17, 3, 8, 8, {0, 0, 23, 17}, interpolation::nearest, 0xe498787fd017b5e1},
    {23, 17, 3, 8, 8, {0, 0, 23, 17}, interpolation::bilinear, 0xc7c4c19baf84ade1},
    {23, 17, 3, 8, 8, {0, 0, 23, 17}, interpolation::bicubic, 0xc575757db0a14c8c},
    {23, 17, 3, 8, 8, {0, 0, 23, 17}, interpolation::area, 0xcc3a9d9e8c106196},
    {23, 17, 3, 40, 31, {0, 0, 23, 17}, interpolation::nearest, 0x24df2d2e7e9e6715},
    {23, 17, 3, 40, 31, {0, 0, 23, 17}, interpolation::bilinear, 0x4edc4eff6282e6cf},
    {23, 17, 3, 40, 31, {0, 0, 23, 17}, interpolation::bicubic, 0x90587fbf17934480},
    {23, 17, 3, 40, 31, {0, 0, 23, 17}, interpolation::area, 0x24df2d2e7e9e6715},
    {23, 17, 1, 23, 9, {0, 0, 23, 17}, interpolation::nearest, 0x9f9d7d890b066150},
    {23, 17, 1, 23, 9, {0, 0, 23, 17}, interpolation::bilinear, 0x0568a83bf66e9729},
    {23, 17, 1, 23, 9, {0, 0, 23, 17}, interpolation::bicubic, 0xa33078436d47808c},
    {23, 17, 1, 23, 9, {0, 0, 23, 17}, interpolation::area, 0x8b613f4812c6daac},
    {50, 40, 3, 7, 40, {0, 0, 50, 40}, interpolation::nearest, 0x108a13d01c0488ee},
    {50, 40, 3, 7, 40, {0, 0, 50, 40}, interpolation::bilinear, 0x3c75de58726700ff},
    {50, 40, 3, 7, 40, {0, 0, 50, 40}, interpolation::bicubic, 0xf3143480681f8af8},
    {50, 40, 3, 7, 40, {0, 0, 50, 40}, interpolation::area, 0x2183cb8c59b90e5f},
    {64, 48, 3, 32, 32, {8, 0, 48, 48}, interpolation::nearest, 0xb81da32660f38982},
    {64, 48, 3, 32, 32, {8, 0, 48, 48}, interpolation::bilinear, 0x8b96f10beef8c446},
    {64, 48, 3, 32, 32, {8, 0, 48, 48}, interpolation::bicubic, 0x6160ef1f23478d34},
    {64, 48, 3, 32, 32, {8, 0, 48, 48}, interpolation::area, 0xe7cb86d3015e4005},
    {31, 29, 1, 64, 10, {3, 5, 17, 22}, interpolation::nearest, 0x889bef2d82a4c586},
    {31, 29, 1, 64, 10, {3, 5, 17, 22}, interpolation::bilinear, 0xcbea97b647cab4b7},
    {31, 29, 1, 64, 10, {3, 5, 17, 22}, interpolation::bicubic, 0x97a71914aa04a51c},
    {31, 29, 1, 64, 10, {3, 5, 17, 22}, interpolation::area, 0x1b14b6b78097b9d6},
    {1, 1, 3, 5, 4, {0, 0, 1, 1}, interpolation::nearest, 0x2fbd1e595f3ed255},
    {1, 1, 3, 5, 4, {0, 0, 1, 1}, interpolation::bilinear, 0x2fbd1e595f3ed255},
    {1, 1, 3, 5, 4, {0, 0, 1, 1}, interpolation::bicubic, 0x2fbd1e595f3ed255},
    {1, 1, 3, 5, 4, {0, 0, 1, 1}, interpolation::area, 0x2fbd1e595f3ed255},
    {500, 333, 3, 224, 224, {0, 0, 500, 333}, interpolation::nearest, 0x58a8eb2c29346d9d},
    {500, 333, 3, 224, 224, {0, 0, 500, 333}, interpolation::bilinear, 0xdf73cd85e4ed13d2},
    {500, 333, 3, 224, 224, {0, 0, 500, 333}, interpolation::bicubic, 0xd3b97c597abbeb49},
    {500, 333, 3, 224, 224, {0, 0, 500, 333}, interpolation::area, 0xaf1f1c3ba91f8843},
};

struct turned {
    int orientation;
    std::uint64_t expected;
};
constexpr turned transposed[] = {
    {2, 0x6dae92b95675abac}, {3, 0x3cf17bd9cd1d48fc}, {4, 0x12836b9bb49f403c},
    {5, 0xd49350f9d763fb70}, {6, 0x9dbd458b22098e60}, {7, 0x4010bf5841d40d40},
    {8, 0xbe8c0a7739099fe0},
};

} // namespace

TEST_CASE("images are resized to the bytes of Pillow") {
    for (resized const& r : pillow) {
        CAPTURE(r.width);
        CAPTURE(r.to_width);
        CAPTURE(int(r.kind));
        bitmap const image = some_bitmap(r.width, r.height, r.channels);
        bitmap const result = resize(image, r.to_width, r.to_height, r.kind, r.part);
        CHECK(result.width == r.to_width);
        CHECK(result.height == r.to_height);
        CHECK(digest(result) == r.expected);
    }
}

TEST_CASE("images are turned by Exif's orientation as by Pillow's exif_transpose") {
    bitmap const image = some_bitmap(23, 17, 3);
    for (turned const& t : transposed) {
        CAPTURE(t.orientation);
        CHECK(digest(turn{t.orientation}.after(image)) == t.expected);
    }
    CHECK(digest(turn{1}.after(image)) == digest(image));
    CHECK(digest(turn{0}.after(image)) == digest(image));
    CHECK(digest(turn{9}.after(image)) == digest(image));
}

TEST_CASE("colours become grey as Pillow's") {
    CHECK(digest(with_channels(some_bitmap(23, 17, 3), 1)) == 0x5425276900d78297);
}

TEST_CASE("the middle has the ratio that is asked for") {
    bitmap const image{100, 40, 3};
    rectangle const part = middle_of(image, 20, 10);
    CHECK(part.x == 10);
    CHECK(part.y == 0);
    CHECK(part.width == 80);
    CHECK(part.height == 40);
    CHECK(middle_of(bitmap{1, 1000, 1}, 224, 224).height == 1);
}

TEST_CASE("what is not within the image is refused") {
    bitmap const image{4, 3, 1};
    for (rectangle const part : {rectangle{0, 0, 5, 3}, {4, 0, 1, 1}, {0, 0, 0, 1}, {0, 3, 1, 1}}) {
        CHECK_THROWS_AS(resize(image, 2, 2, interpolation::area, part), castnet::error);
    }
    CHECK_THROWS_AS(resize(image, 0, 2), castnet::error);
}
