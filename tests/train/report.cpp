// What a report refuses and takes; tests/report reads one.
#include <castnet/castnet.hpp>
#include <castnet/train/report.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

namespace cn = castnet;

using images = cn::shape<1, 2, 2>;

TEST_CASE("worst samples need labels that the output has") {
    cn::model<cn::sequential<cn::input<1, 2, 2>, cn::flatten, cn::dense<3>>, cn::policy::cpu,
              cn::batch<2>>
        model;
    std::vector<float> const pixels(8);
    cn::data::dataset<cn::data::label<5>, images> const data{pixels, std::vector<int>{2, 3}};
    CHECK_THROWS_WITH_AS(cn::report{"worst"}.add_worst(model, data),
                         doctest::Contains("the label of sample 1 is 3"), cn::error);
    CHECK_NOTHROW(cn::report{"worst"}.add_worst(model, data.take(1)));
}

TEST_CASE("numbers of a picture that are not finite are a colour, too") {
    float const infinity = std::numeric_limits<float>::infinity();
    float const nan = std::numeric_limits<float>::quiet_NaN();
    using cn::detail::colours_of;
    auto const colours = colours_of<images>(std::vector<float>{0.5F, 1, nan, infinity});
    CHECK(colours.size() == 12);
    CHECK(colours_of<images>(std::vector<float>{1, nan, 0, 1})[3] == 0);
    CHECK(colours_of<images>(std::vector<float>{-infinity, 0, 1, infinity}).size() == 12);
}

TEST_CASE("charts have round numbers beside them") {
    auto const numbers = [](std::vector<double> const& values) {
        std::string const svg = cn::detail::line_chart({{"loss", values}});
        std::vector<std::string> found;
        std::string const before = "text-anchor=\"end\">";
        for (std::size_t at = svg.find(before); at != std::string::npos;
             at = svg.find(before, at + 1)) {
            std::size_t const begin = at + before.size();
            found.push_back(svg.substr(begin, svg.find('<', begin) - begin));
        }
        return found;
    };
    using texts = std::vector<std::string>;
    CHECK(numbers({1.2167, 1.18571}) == texts{"1.19", "1.2", "1.21"});
    CHECK(numbers({-0.3, 0.2}) == texts{"-0.2", "0", "0.2"});
    CHECK(numbers({0, 1}) == texts{"0", "0.2", "0.4", "0.6", "0.8", "1"});
    CHECK(numbers({2e9, 9e9}).front() == "2e+09");
    double const most = std::numeric_limits<double>::max();
    double const least = std::numeric_limits<double>::denorm_min();
    CHECK(numbers({1, std::nextafter(1.0, 2.0)}).size() <= 6); // closer than their steps
    CHECK(numbers({-most, most}).size() <= 6);
    CHECK(numbers({0, least}).size() <= 6);
}
