// What a report refuses and takes; tests/report reads one.
#include <castnet/castnet.hpp>
#include <castnet/train/report.hpp>

#include <doctest/doctest.h>
#include <limits>

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
