#include <castnet/data/dataset.hpp>
#include <castnet/data/is_dataset.hpp>

#include <cmath>
#include <doctest/doctest.h>

using namespace castnet;
using data::column;
using data::dataset;
using data::label;
using doctest::Contains;

namespace {

using images = dataset<label<3>, shape<1, 2, 2>>;

std::vector<unsigned char> counting(size_t n) {
    std::vector<unsigned char> bytes(n);
    for (size_t i = 0; i < n; ++i) {
        bytes[i] = static_cast<unsigned char>(i);
    }
    return bytes;
}

// Five images with the pixels 4i .. 4i + 3 and the label i % 3.
images five() {
    return images{counting(20), std::vector<int>{0, 1, 2, 0, 1}};
}

template <class Dataset>
std::vector<float> first_pixels(Dataset const& samples) {
    std::vector<float> found;
    for (size_t i = 0; i < samples.size(); ++i) {
        float pixels[4];
        samples.copy_input(i, pixels);
        found.push_back(pixels[0]);
    }
    return found;
}

} // namespace

static_assert(std::is_same_v<images::target_type, label<3>>);
static_assert(std::is_same_v<images::input_shape<0>, shape<1, 2, 2>>);
static_assert(castnet::data::Dataset<images> &&
              !castnet::data::Dataset<castnet::data::parts<images>>);
static_assert(images::input_count == 1 && images::target_count == 1);
static_assert(dataset<shape<2, 3>, shape<1>, shape<4>>::input_count == 2);
static_assert(std::is_same_v<dataset<shape<2, 3>, shape<1>>::target_shape<0>, shape<2, 3>>);
static_assert(std::is_same_v<images::target_shape<0>, shape<>>);

static_assert(data::targets<shape<1>, label<2>>::only_label == 1);
static_assert(data::targets<shape<1>>::only_label == -1);
static_assert(data::targets<label<2>, label<2>>::only_label == -1); // which is meant?

TEST_CASE("samples come out in order, as float and as double") {
    auto const samples = five();
    CHECK(samples.size() == 5);
    float pixels[4];
    samples.copy_input<0>(2, pixels);
    CHECK(pixels[0] == 8.0F);
    CHECK(pixels[3] == 11.0F);
    double doubles[4], target = 9;
    samples.copy_input(4, doubles);
    samples.copy_target(4, &target);
    CHECK(doubles[3] == 19.0);
    CHECK(target == 1.0);
}

TEST_CASE("bytes are scaled, with both ends exact") {
    dataset<shape<1>, shape<2>> const samples{
        column{std::vector<unsigned char>{0, 255}, 1.0 / 255},
        column{std::vector<unsigned char>{64}, 2.0 / 128, -1.0}};
    float values[2], target = 9;
    samples.copy_input(0, values);
    samples.copy_target(0, &target);
    CHECK(values[0] == 0.0F);
    CHECK(values[1] == 1.0F);
    CHECK(target == 0.0F);
}

TEST_CASE("several inputs and a target of real numbers") {
    std::vector<float> const a{1, 2, 3, 4}, targets{5, 6, 7, 8, 9, 10};
    dataset<shape<3>, shape<2>, shape<1>> const samples{a, std::vector<int>{-7, 8}, targets};
    float one[2], two[1], target[3];
    samples.copy_input<0>(1, one);
    samples.copy_input<1>(1, two);
    samples.copy_target(1, target);
    CHECK(one[1] == 4.0F);
    CHECK(two[0] == 8.0F);
    CHECK(target[0] == 8.0F);
    CHECK(target[2] == 10.0F);
}

TEST_CASE("several targets go with their sample into every subset") {
    using boxes = dataset<data::targets<label<3>, shape<2>, shape<1>>, shape<1>>;
    static_assert(boxes::target_count == 3);
    static_assert(std::is_same_v<boxes::target_shape<0>, shape<>>);
    static_assert(std::is_same_v<boxes::target_shape<1>, shape<2>>);
    boxes const samples{std::vector<float>{0, 1, 2, 3}, std::vector<int>{0, 2, 1, 2},
                        column{counting(8), 0.5}, std::vector<float>{9, 8, 7, 6}};
    auto const check = [](boxes const& of, size_t sample, std::vector<float> const& expected) {
        std::vector<float> found(4);
        of.copy_target(sample, found.data());
        of.copy_target<1>(sample, found.data() + 1);
        of.copy_target<2>(sample, found.data() + 3);
        CHECK(found == expected);
    };
    check(samples, 1, {2, 1, 1.5F, 8});
    check(samples.take(2), 0, {0, 0, 0.5F, 9});
    check(samples.skip(2), 1, {2, 3, 3.5F, 6});
    check(samples.split(0.5).last, 0, {1, 2, 2.5F, 7});
    check(samples.subset(std::vector<size_t>{3, 1}).with_weights({1, 2}), 1, {2, 1, 1.5F, 8});
    check(samples.subset({3, 1}).with_weights({1, 2}), 1, {2, 1, 1.5F, 8});
    CHECK(samples.column_of<2>().size() == 8);
    CHECK(samples.column_of<3>().size() == 4);
}

TEST_CASE("samples without targets are as many as those of the first input") {
    using pairs = dataset<data::targets<>, shape<2>, shape<1>>;
    pairs const samples{counting(6), std::vector<float>{9, 8, 7}};
    CHECK(samples.size() == 3);
    float found = 0;
    samples.split(0.34).last.copy_input<1>(1, &found);
    CHECK(found == 7);
    CHECK_THROWS_WITH_AS((pairs{counting(6), std::vector<float>{9, 8}}),
                         "castnet: dataset: input 1: found 2 values, expected 3 samples of 1 value",
                         error);
}

TEST_CASE("the target that is wrong is named by its number") {
    using two = dataset<data::targets<shape<2>, label<2>>, shape<1>>;
    using floats = std::vector<float>;
    CHECK_THROWS_WITH_AS(
        (two{floats(3), floats(6), floats(2)}),
        "castnet: dataset: target 1: found 2 values, expected 3 samples of 1 value", error);
    CHECK_THROWS_WITH_AS((two{floats(3), floats(6), floats{0, 1, 2}}),
                         "castnet: dataset: target 1: the label of sample 2 is 2, expected a "
                         "whole number from 0 to 1",
                         error);
}

TEST_CASE("columns are made from spans, too") {
    float const values[] = {1, 2};
    unsigned char const labels[] = {1, 0};
    dataset<label<2>, shape<1>> const samples{column{std::span<float const>{values}},
                                              column{std::span<unsigned char const>{labels}}};
    float target = 9;
    samples.copy_target(0, &target);
    CHECK(target == 1.0F);
}

TEST_CASE("columns of doubles keep them, and are read as floats, too") {
    std::vector<double> const inputs{0.1, -3.4e38, 1e-50};
    dataset<shape<1>, shape<1>> const samples{inputs, std::vector<double>{1, INFINITY, 3}};
    double value = 0;
    samples.copy_input(0, &value);
    CHECK(value == 0.1);
    float rounded = 9;
    samples.copy_input(0, &rounded);
    CHECK(rounded == 0.1F);
    samples.copy_input(2, &rounded);
    CHECK(rounded == 0);
    samples.copy_target(1, &value);
    CHECK(value == static_cast<double>(INFINITY));
    CHECK_THROWS_WITH_AS((column{std::vector<double>{1, 2, -1e39}}),
                         "castnet: data::column: value 2 is -1e+39, numbers must lie within the "
                         "range of float",
                         error);
}

TEST_CASE("a scale that is no number is refused") {
    CHECK_THROWS_WITH_AS((column{counting(2), double{NAN}}), Contains("the scale nan"), error);
    CHECK_THROWS_WITH_AS((column{counting(2), 1, double{INFINITY}}), Contains("the offset inf"),
                         error);
}

TEST_CASE("columns of wrong size are refused") {
    CHECK_THROWS_WITH_AS(
        (images{counting(19), std::vector<int>(5)}),
        "castnet: dataset: input 0: found 19 values, expected 5 samples of 4 values", error);
    CHECK_THROWS_WITH_AS((images{counting(20), std::vector<int>(4)}),
                         Contains("input 0: found 20 values, expected 4 samples"), error);
    using two = dataset<shape<2>, shape<1>, shape<3>>;
    using floats = std::vector<float>;
    CHECK_THROWS_WITH_AS((two{floats(2), floats(7), floats(4)}),
                         Contains("input 1: found 7 values, expected 2 samples of 3"), error);
    CHECK_THROWS_WITH_AS((two{floats(2), floats(6), floats(5)}),
                         Contains("the target: found 5 values, expected 2 samples of 2"), error);
    using pairs = dataset<shape<2>, shape<4>>; // 39 numbers are no whole samples of targets
    CHECK_THROWS_WITH_AS((pairs{floats(80), floats(39)}),
                         Contains("the target: found 39 values, expected 19 samples of 2"), error);
    CHECK(two{floats{}, floats{}, floats{}}.size() == 0);
}

TEST_CASE("a label that is no class number is refused by its sample number") {
    using one = dataset<label<3>, shape<1>>;
    using floats = std::vector<float>;
    floats const inputs(3);
    CHECK_THROWS_WITH_AS((one{inputs, std::vector<int>{0, 3, 1}}),
                         "castnet: dataset: the label of sample 1 is 3, expected a whole "
                         "number from 0 to 2",
                         error);
    CHECK_THROWS_WITH_AS((one{inputs, std::vector<int>{0, 0, -1}}), Contains("sample 2"), error);
    CHECK_THROWS_WITH_AS((one{inputs, floats{0.5F, 0, 0}}), Contains("sample 0"), error);
    CHECK_THROWS_AS((one{inputs, floats{0, NAN, 0}}), error);
    CHECK_THROWS_AS((one{inputs, floats{0, 0, INFINITY}}), error);
    CHECK_THROWS_WITH_AS((column{std::vector<int>{1, (1 << 24) + 1}}),
                         Contains("value 1 is 16777217"), error);
}

TEST_CASE("a sample that is not there is refused") {
    auto const samples = five();
    float out[4];
    CHECK_THROWS_WITH_AS(samples.copy_input(5, out),
                         Contains("found sample number 5, expected one below 5"), error);
    CHECK_THROWS_AS(samples.copy_target(5, out), error);
    CHECK_THROWS_AS((void)samples.weight(5), error);
    CHECK_THROWS_AS((void)samples.subset(std::vector<size_t>{0, 5}), error);
    CHECK_THROWS_AS((void)samples.subset({0, 5}), error);
    CHECK_THROWS_WITH_AS(
        (void)samples.subset(std::vector{0, -1}),
        "castnet: dataset::subset: found the sample number -1, expected one from 0", error);
    CHECK_THROWS_AS(samples.take(2).copy_input(2, out), error);
}

TEST_CASE("subsets choose by number, also of subsets, and outlive the whole") {
    auto const part = [] {
        auto const whole = five();
        return whole.subset(std::vector<size_t>{4, 0, 4, 2});
    }();
    CHECK(first_pixels(part) == std::vector<float>{16, 0, 16, 8});
    CHECK(first_pixels(part.subset(std::vector<size_t>{3, 1})) == std::vector<float>{8, 0});
    CHECK(first_pixels(part.subset(std::vector<int>{3, 1})) == std::vector<float>{8, 0});
    CHECK(part.subset({}).size() == 0);
}

TEST_CASE("take, skip and split keep the order") {
    auto const samples = five();
    CHECK(first_pixels(samples.take(2)) == std::vector<float>{0, 4});
    CHECK(first_pixels(samples.skip(2)) == std::vector<float>{8, 12, 16});
    CHECK(first_pixels(samples.skip(1).take(2)) == std::vector<float>{4, 8});
    CHECK(samples.take(0).size() == 0);
    CHECK(samples.skip(5).size() == 0);
    CHECK_THROWS_WITH_AS((void)samples.take(6),
                         Contains("take: found 6, but the data set holds 5 samples"), error);
    CHECK_THROWS_WITH_AS((void)samples.skip(7), Contains("skip: found 7, but"), error);

    auto const [most, rest] = samples.split(0.8);
    CHECK(first_pixels(most) == std::vector<float>{0, 4, 8, 12});
    CHECK(first_pixels(rest) == std::vector<float>{16});
    CHECK(samples.split(1).last.size() == 0);
    CHECK(samples.split(0).first.size() == 0);
    for (double const bad : {-0.1, 1.1, double{NAN}}) {
        CHECK_THROWS_WITH_AS((void)samples.split(bad), Contains("split: found the fraction"),
                             error);
    }
    // 0.29 * 100 is a little below 29 in binary.
    dataset<shape<1>, shape<1>> const hundred{std::vector<float>(100), std::vector<float>(100)};
    CHECK(hundred.split(0.29).first.size() == 29);
}

TEST_CASE("weights are 1 unless given, and go with their samples") {
    auto const samples = five();
    CHECK(samples.weight(3) == 1.0F);
    auto const weighted = samples.with_weights({0, 1, 2, 3, 4});
    CHECK(weighted.weight(3) == 3.0F);
    CHECK(samples.weight(3) == 1.0F);
    CHECK(weighted.skip(2).weight(1) == 3.0F);
    CHECK(weighted.subset(std::vector<size_t>{4, 1}).weight(0) == 4.0F);
    CHECK(weighted.skip(3).with_weights({7, 8}).weight(0) == 7.0F);
    CHECK_THROWS_WITH_AS((void)samples.with_weights({1, 2}),
                         Contains("found 2 weights, expected one for each of the 5"), error);
    CHECK_THROWS_WITH_AS((void)samples.with_weights({1, 1, -1, 1, 1}),
                         Contains("the weight of sample 2 is -1"), error);
    CHECK_THROWS_AS((void)samples.with_weights({1, 1, 1, NAN, 1}), error);
    CHECK_THROWS_AS((void)samples.with_weights({1, 1, 1, INFINITY, 1}), error);
    CHECK(samples.with_weights({0, 1e-18F, 1e18F, 1, 1}).weight(1) == 1e-18F);
    CHECK(samples.with_weights(std::vector<double>{0, 0.1, 1, 1, 1}).weight(1) == 0.1F);
    for (float const bad : {1e-45F, 1e-19F, 1e19F, 3e38F}) { // would come out as NaN
        CHECK_THROWS_WITH_AS((void)samples.with_weights({1, 1, 1, 1, bad}),
                             Contains("expected 0 or a number from 1e-18 to 1e+18; only the ratios "
                                      "of weights matter"),
                             error);
    }
}
