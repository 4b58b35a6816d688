// Sequences of different lengths, cut or filled up at either end.
#include <castnet/data.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace data = castnet::data;
using data::pad_sequences, data::sequence_end;

using ids = std::vector<int>;

static std::vector<ids> const texts{{1, 2}, {}, {3, 4, 5, 6, 7}, {8, 9, 10}};

TEST_CASE("sequences are filled up and cut at their back") {
    auto const [words, lengths] = pad_sequences<3>(texts);
    CHECK(words == ids{1, 2, 0, /**/ 0, 0, 0, /**/ 3, 4, 5, /**/ 8, 9, 10});
    CHECK(lengths == std::vector<std::int32_t>{2, 0, 3, 3});
}

TEST_CASE("or at their front, as Keras does") {
    auto const keras = pad_sequences<3>(
        texts, {.padding = sequence_end::front, .truncating = sequence_end::front, .value = -1});
    CHECK(keras.values == ids{-1, 1, 2, /**/ -1, -1, -1, /**/ 5, 6, 7, /**/ 8, 9, 10});
    CHECK(keras.lengths == std::vector<std::int32_t>{2, 0, 3, 3});
    CHECK(pad_sequences<4>(texts, {.truncating = sequence_end::front}).values ==
          ids{1, 2, 0, 0, /**/ 0, 0, 0, 0, /**/ 4, 5, 6, 7, /**/ 8, 9, 10, 0});
}

TEST_CASE("what is added is a number as the sequences hold") {
    std::vector<std::vector<unsigned char>> const bytes{{1}, {2, 3}};
    CHECK(pad_sequences<2>(bytes, {.value = 255}).values[1] == 255);
    for (double const value : {-1.0, 256.0, 0.5, std::nan("")}) {
        CHECK_THROWS_AS(pad_sequences<2>(bytes, {.value = value}), castnet::error);
    }
    CHECK_THROWS_WITH_AS(pad_sequences<2>(bytes, {.value = -1}),
                         "castnet: data::pad_sequences: the value is -1, expected a whole number "
                         "from 0 to 255, as the sequences hold",
                         castnet::error);
    CHECK_THROWS_AS(pad_sequences<2>(texts, {.value = 1e10}), castnet::error);
    std::vector<std::vector<std::uint64_t>> const large{{1}};
    CHECK(pad_sequences<2>(large, {.value = 0x1p63}).values[1] == std::uint64_t{1} << 63);
    CHECK_THROWS_AS(pad_sequences<2>(large, {.value = 0x1p64}), castnet::error);
    std::vector<std::vector<float>> const real{{1}};
    CHECK(std::isnan(pad_sequences<2>(real, {.value = std::nan("")}).values[1]));
    CHECK(pad_sequences<2>(real, {.value = 0.5}).values[1] == 0.5F);
    CHECK_THROWS_AS(pad_sequences<2>(real, {.value = 1e300}), castnet::error);
}

TEST_CASE("a step may be of several numbers") {
    std::vector<std::vector<float>> const sounds{{1, 2}, {3, 4, 5, 6, 7, 8}};
    auto const [values, lengths] = pad_sequences<2, 2>(sounds);
    CHECK(values == std::vector<float>{1, 2, 0, 0, /**/ 3, 4, 5, 6});
    CHECK(lengths == std::vector<std::int32_t>{1, 2});
    CHECK_THROWS_WITH_AS((pad_sequences<2, 4>(sounds)),
                         "castnet: data::pad_sequences: sequence 0 holds 2 numbers, expected a "
                         "multiple of 4, the numbers of a step",
                         castnet::error);
}

TEST_CASE("texts of bytes stay bytes, and are columns of a data set with their lengths") {
    std::vector<std::vector<unsigned char>> const names{{'a', 'b'}, {'c'}};
    auto const [letters, lengths] = pad_sequences<4>(names);
    using set = data::dataset<data::label<2>, castnet::ids<256, 4>, castnet::length_of<4>>;
    set const all{letters, lengths, ids{0, 1}};
    float of_second[4], length = 0;
    all.copy_input<0>(1, of_second);
    all.copy_input<1>(1, &length);
    CHECK(of_second[0] == 'c');
    CHECK(of_second[1] == 0);
    CHECK(length == 1);
}
