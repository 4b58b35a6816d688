#include <castnet/data.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <set>

using namespace castnet;
using namespace castnet::data;

namespace {

using images = dataset<label<2>, shape<2, 5, 7>>;

images some_images(size_t count) {
    std::vector<float> x(count * 70);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i + 1);
    }
    return images{std::move(x), std::vector<int>(count)};
}

template <class Data>
std::vector<float> input_of(Data const& data, size_t sample) {
    std::vector<float> x(Data::template input_shape<0>::count);
    data.copy_input(sample, x.data());
    return x;
}

} // namespace

TEST_CASE("the middle of an image, rounded down") {
    auto const x = input_of(center_crop<shape<2, 2, 3>>(some_images(1)), 0);
    CHECK(x == std::vector<float>{10, 11, 12, 17, 18, 19, 45, 46, 47, 52, 53, 54});
}

TEST_CASE("random crops are parts of the image with its padding, all of them") {
    auto const data = random_crop<shape<2, 5, 7>>(some_images(1), {.padding = 1, .value = -1});
    std::set<std::vector<float>> seen;
    for (std::uint64_t epoch = 0; epoch < 200; ++epoch) {
        data.begin_epoch({.seed = 1, .number = epoch});
        auto const x = input_of(data, 0);
        seen.insert(x);
        int matches = 0;
        for (int down = -1; down <= 1; ++down) {
            for (int right = -1; right <= 1; ++right) {
                bool same = true;
                for (int i = 0; i < 70; ++i) {
                    int const y = i % 35 / 7 + down, k = i % 7 + right;
                    bool const within = y >= 0 && y < 5 && k >= 0 && k < 7;
                    float const expected = within ? float(i / 35 * 35 + y * 7 + k + 1) : -1.0F;
                    same = same && x[size_t(i)] == expected;
                }
                matches += same;
            }
        }
        CHECK(matches == 1);
    }
    CHECK(seen.size() == 9);
    CHECK_THROWS_WITH_AS((random_crop<shape<2, 8, 7>>(some_images(1), {.padding = 1})),
                         doctest::Contains("5 x 7 pixels with 1 on each side"), castnet::error);
    CHECK_THROWS_AS((random_crop<shape<2, 5, 7>>(some_images(1), {.value = std::nan("")})),
                    castnet::error);
}

TEST_CASE("a random part has an area and a ratio within their ranges, and lies anywhere") {
    random_resized_crop const crop{.scale = {0.2, 0.6}, .ratio = {0.5, 2}};
    double least = 1, most = 0, thin = 9, wide = 0, area = 0;
    size_t at_left = 100, at_right = 0;
    constexpr int draws = 4000;
    for (std::uint64_t i = 0; i < draws; ++i) {
        data::random_stream random{1, 7, i};
        rectangle const r = crop.draw(120, 100, random);
        CHECK(r.x + r.width <= 120);
        CHECK(r.y + r.height <= 100);
        double const share = double(r.width * r.height) / 12000;
        double const ratio = double(r.width) / double(r.height);
        area += share / draws;
        least = std::min(least, share);
        most = std::max(most, share);
        thin = std::min(thin, ratio);
        wide = std::max(wide, ratio);
        at_left = std::min(at_left, r.x);
        at_right = std::max(at_right, r.x + r.width);
    }
    CHECK(least == doctest::Approx(0.2).epsilon(0.02));
    CHECK(most == doctest::Approx(0.6).epsilon(0.02));
    CHECK(thin == doctest::Approx(0.5).epsilon(0.03));
    CHECK(wide == doctest::Approx(2).epsilon(0.03));
    CHECK(area > 0.36);
    CHECK(area < 0.41); // less than 0.4 where large parts do not fit
    CHECK(at_left == 0);
    CHECK(at_right == 120);
}

TEST_CASE("where no part fits, it is the largest one of a ratio, from the middle") {
    data::random_stream random{1, 7, 0};
    rectangle const wide = random_resized_crop{.scale = {1, 1}}.draw(300, 30, random);
    CHECK(wide.width == 40);
    CHECK(wide.x == 130);
    CHECK(wide.height == 30);
    rectangle const tall = random_resized_crop{.scale = {1, 1}}.draw(30, 300, random);
    CHECK(tall.height == 40);
    CHECK(tall.y == 130);
    rectangle const one = random_resized_crop{}.draw(1, 1, random);
    CHECK(one.width * one.height == 1);
    CHECK_THROWS_AS((random_resized_crop{.scale = {0, 1}}.draw(9, 9, random)), castnet::error);
    CHECK_THROWS_AS((random_resized_crop{.ratio = {2, 1}}.draw(9, 9, random)), castnet::error);
}

TEST_CASE("a random part becomes as large as the image, bilinearly") {
    random_resized_crop const crop{};
    data::random_stream random{1, 2, 3}, again{1, 2, 3};
    rectangle const part = crop.draw(7, 5, again);
    auto x = input_of(some_images(1), 0);
    auto const before = x;
    transform_image(crop, pixels<float>{x.data(), 2, 5, 7}, random);
    // As linear as the image is, but for the edges, where the nearest pixel counts.
    for (size_t c = 0; c < 2; ++c) {
        for (size_t y = 0; y < 5; ++y) {
            for (size_t k = 0; k < 7; ++k) {
                auto const at = [](size_t i, size_t size, size_t results) {
                    double const place = (double(i) + 0.5) * double(size) / double(results) - 0.5;
                    return std::clamp(place, 0.0, double(size - 1));
                };
                double const row = double(part.y) + at(y, part.height, 5);
                double const column = double(part.x) + at(k, part.width, 7);
                CHECK(x[c * 35 + y * 7 + k] ==
                      doctest::Approx(double(c) * 35 + row * 7 + column + 1));
            }
        }
    }
    CHECK(x != before);
}
