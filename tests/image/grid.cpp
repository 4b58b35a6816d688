#include <castnet/image/grid.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <vector>

using castnet::shape;
using castnet::image::bitmap, castnet::image::bytes, castnet::image::grid;
using doctest::Contains;

TEST_CASE("images stand in rows, with gaps between and around them") {
    std::vector<float> const values{0, 1, 0.5F, 2, -1, 0.25F}; // three of 1 x 2 pixels
    bitmap const all = grid<shape<1, 1, 2>>(values, {.columns = 2, .gap = 1});
    CHECK(all.width == 7);
    CHECK(all.height == 5);
    CHECK(all.channels == 1);
    CHECK(all.pixels == bytes{0, 0, 0,   0, 0,   0,   0, //
                              0, 0, 255, 0, 128, 255, 0, //
                              0, 0, 0,   0, 0,   0,   0, //
                              0, 0, 64,  0, 0,   0,   0, //
                              0, 0, 0,   0, 0,   0,   0});
}

TEST_CASE("one image fills the grid, its channels together") {
    std::vector<float> const values{-1, 1, 0, 0, 1, NAN}; // red, green, blue of 2 x 1 pixels
    bitmap const all = grid<shape<3, 2, 1>>(values, {.least = -1, .most = 1});
    CHECK(all.width == 1);
    CHECK(all.height == 2);
    CHECK(all.pixels == bytes{0, 128, 255, 255, 128, 0});
    CHECK(grid<shape<1, 2, 2>>({}).pixels.size() == 4); // gaps alone
}

TEST_CASE("a grid without columns, of an empty range or of a part of an image is refused") {
    std::vector<float> const values(5);
    CHECK_THROWS_WITH_AS((grid<shape<1, 2, 1>>(values)),
                         Contains("found 5 values, expected some for each of several images of 2"),
                         castnet::error);
    CHECK_THROWS_WITH_AS((grid<shape<1, 1, 1>>(values, {.columns = 0})), Contains("0 columns"),
                         castnet::error);
    CHECK_THROWS_AS((grid<shape<1, 1, 1>>(values, {.least = 1})), castnet::error);
}
