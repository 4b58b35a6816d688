#include <castnet/data.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

using namespace castnet;
using namespace castnet::data;

namespace {

using images = dataset<label<2>, shape<2, 3, 5>>;

images some_images(size_t count) {
    std::vector<float> x(count * 30);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i * 37 % 101) + (i / 15 % 2 == 0 ? 1000.0F : 0.0F);
    }
    return images{std::move(x), std::vector<int>(count)};
}

} // namespace

TEST_CASE("statistics are those of all pixels of a channel") {
    constexpr size_t count = 700;
    auto const data = some_images(count);
    auto const found = statistics_of(data);
    for (size_t c = 0; c < 2; ++c) {
        double mean = 0, squares = 0;
        std::vector<double> x(30);
        for (int pass = 0; pass < 2; ++pass) {
            for (size_t i = 0; i < count; ++i) {
                data.copy_input(i, x.data());
                for (size_t k = c * 15; k < (c + 1) * 15; ++k) {
                    mean += pass == 0 ? x[k] / (15 * count) : 0;
                    squares += pass == 1 ? (x[k] - mean) * (x[k] - mean) / (15 * count) : 0;
                }
            }
        }
        CHECK(found.mean[c] == doctest::Approx(mean).epsilon(1e-12));
        CHECK(found.deviation[c] == doctest::Approx(std::sqrt(squares)).epsilon(1e-12));
    }
    CHECK(statistics_of(data) == found); // whichever threads read
    auto const standard = statistics_of(augment(data, standardize{found}));
    for (size_t c = 0; c < 2; ++c) {
        CHECK(std::abs(standard.mean[c]) < 1e-5);
        CHECK(standard.deviation[c] == doctest::Approx(1).epsilon(1e-6));
    }
    CHECK(statistics_of(take(data, 0)).deviation == std::vector<double>{0, 0});
}

TEST_CASE("the deviation of a channel of equal numbers is 1") {
    std::vector<float> x(2 * 30, 0.1F); // whose sum is rounded
    x[0] = 0.3F;
    auto const found = statistics_of(images{std::move(x), std::vector<int>(2)});
    CHECK(found.mean[1] == double(0.1F));
    CHECK(found.deviation[1] == 1);
    CHECK(found.deviation[0] == doctest::Approx(0.2 * std::sqrt(29.0) / 30).epsilon(1e-6));
}

TEST_CASE("what reading a sample throws reaches the caller") {
    auto const data = generated<label<2>, shape<1, 1, 1>>(
        300,
        [](size_t i, auto x) {
            if (i > 280) {
                throw file_error("picture.jpg", {"number ", i});
            }
            x[0] = 0;
        },
        [](size_t, auto y) { y[0] = 0; });
    CHECK_THROWS_WITH_AS(statistics_of(data), doctest::Contains("picture.jpg: number 281"),
                         file_error);
}

TEST_CASE("columns of a table are standardized over the numbers that are there") {
    float const none = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> table = {1e6F,     3,    none, //
                                1e6F + 4, none, none, //
                                1e6F + 8, 3,    none};
    auto const found = statistics_of_columns(table, 3);
    CHECK(found.mean == std::vector<double>{1e6 + 4, 3, 0});
    CHECK(found.deviation[0] == doctest::Approx(std::sqrt(32 / 3.0)).epsilon(1e-12));
    CHECK(found.deviation[1] == 1); // of equal numbers
    CHECK(found.deviation[2] == 1); // of none
    standardize_columns(table, found);
    float const end = float(4 / std::sqrt(32 / 3.0));
    CHECK(table == std::vector<float>{-end, 0, 0, 0, 0, 0, end, 0, 0});
    CHECK_THROWS_WITH_AS(statistics_of_columns(table, 4),
                         "castnet: data::statistics_of_columns: found 9 numbers, expected whole "
                         "rows of 4",
                         error);
    CHECK_THROWS_AS(standardize_columns(table, channel_statistics{}), error);
    table[7] = -std::numeric_limits<float>::infinity();
    CHECK_THROWS_WITH_AS(statistics_of_columns(table, 3),
                         "castnet: data::statistics_of_columns: row 2, column 1, both from 0, is "
                         "-inf; give it a finite number, or NaN if it is missing",
                         error);
    CHECK_THROWS_WITH_AS(standardize_columns(table, {{0, 0, 0}, {1, 1}}),
                         "castnet: data::standardize_columns: found 3 means and 2 deviations, "
                         "expected as many of both, at least one",
                         error);
    CHECK_THROWS_WITH_AS(standardize_columns(table, {{0, 0, 0}, {1, 0, 1}}),
                         doctest::Contains("data::standardize_columns: a deviation is 0"), error);
}

TEST_CASE("columns of doubles are standardized as doubles") {
    std::vector<double> table = {1, 1e9 + 0.25, 3, 1e9 + 0.75};
    auto const found = statistics_of_columns(table, 2);
    CHECK(found.mean == std::vector<double>{2, 1e9 + 0.5});
    CHECK(found.deviation == std::vector<double>{1, 0.25});
    standardize_columns(table, found);
    CHECK(table == std::vector<double>{-1, -1, 1, 1});
}
