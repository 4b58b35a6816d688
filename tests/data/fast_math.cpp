// Numbers that are missing or invalid, in a program compiled with -ffast-math, for which the
// compiler takes every number to be finite.
#include <castnet/castnet.hpp>
#include <castnet/data.hpp>
#include <castnet/io/csv_table.hpp>

#include <bit>
#include <cstdint>
#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace cn = castnet;

namespace {

float const not_a_number = std::bit_cast<float>(std::uint32_t{0x7fc0'0000}); // not folded
float const infinity = std::bit_cast<float>(std::uint32_t{0x7f80'0000});

cn::io::csv_table table(std::string const& text, cn::io::csv_options const& options = {}) {
    std::vector<unsigned char> const content(text.begin(), text.end());
    cn::io::memory_source in{content, "t.csv"};
    return {in, options};
}

std::uint32_t bits(float x) {
    return std::bit_cast<std::uint32_t>(x);
}

} // namespace

TEST_CASE("with -ffast-math, missing numbers of a table are left out and become the mean") {
    auto values =
        table("a,b\n1,\n2,3\n3,4\n", {.missing_value = double{not_a_number}}).matrix({"a", "b"});
    CHECK(bits(values[1]) == bits(not_a_number));
    auto const columns = cn::data::statistics_of_columns(values, 2);
    CHECK(columns.mean == std::vector<double>{2, 3.5});
    CHECK(columns.deviation[1] == 0.5);
    cn::data::standardize_columns(values, columns);
    CHECK(values[1] == 0);
    CHECK(values[5] == 1);
    CHECK(table("a\n-NaN\n", {.missing_value = -1}).numbers("a") == std::vector<double>{-1});
    CHECK_THROWS_AS(table("a\n-NaN\n").numbers("a"), cn::file_error);
}

TEST_CASE("with -ffast-math, numbers that are not finite are refused") {
    std::vector<float> const bad{1, infinity, 2, 3};
    CHECK_THROWS_AS(cn::data::statistics_of_columns(bad, 2), cn::error);
    auto const data = cn::data::generated<cn::shape<>, cn::shape<>>(
        2, [](std::size_t, auto x) { x[0] = 0; }, [](std::size_t, auto y) { y[0] = 0; });
    CHECK_THROWS_AS(cn::data::weighted_sample(data, std::vector{1.F, not_a_number}, 5), cn::error);
    CHECK_THROWS_AS(cn::data::weighted_sample(data, std::vector{1.F, infinity}, 5), cn::error);
}

TEST_CASE("with -ffast-math, a loss that is NaN ends the fit, and such weights are not saved") {
    using network = cn::sequential<cn::input<1>, cn::dense<1>>;
    cn::model<network, cn::policy::cpu, cn::batch<4>> model;
    auto training = cn::compile(model, cn::mse, cn::sgd{});
    cn::data::dataset<cn::shape<1>, cn::shape<1>> const data{
        std::vector<float>{1, 2, not_a_number, 4}, std::vector<float>{1, 2, 3, 4}};
    CHECK_THROWS_WITH_AS(training.fit(data, {.verbose = cn::verbosity::silent}),
                         doctest::Contains("the loss is NaN or infinite"), cn::error);
    CHECK_THROWS_WITH_AS(cn::save(model, "castnet_fast_math.safetensors"),
                         doctest::Contains("holds nan"), cn::file_error);
}
