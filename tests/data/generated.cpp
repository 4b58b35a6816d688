#include <castnet/data.hpp>

#include <cmath>
#include <doctest/doctest.h>

using namespace castnet;
using namespace castnet::data;

TEST_CASE("a sample is what the functions of its number write") {
    auto const data = generated<targets<label<3>, shape<2>>, shape<2>, shape<1, 2, 2>>(
        30,
        [](size_t i, auto x) {
            x[0] = float(i);
            x[1] = -float(i);
        },
        [](size_t i, auto image) { std::fill(image.begin(), image.end(), float(i % 7)); },
        [](size_t i, auto kind) { kind[0] = float(i % 3); },
        [](size_t i, auto y) { y[0] = y[1] = float(i) / 2; });
    static_assert(std::remove_const_t<decltype(data)>::input_count == 2);
    CHECK(data.size() == 30);
    float x[2], image[4], kind[1];
    double y[2];
    data.copy_input<0>(8, x);
    data.copy_input<1>(8, image);
    data.copy_target<0>(8, kind);
    data.copy_target<1>(8, y);
    CHECK(x[1] == -8);
    CHECK(image[3] == 1);
    CHECK(kind[0] == 2);
    CHECK(y[1] == 4);
    CHECK_THROWS_WITH_AS(data.copy_input<0>(30, x), doctest::Contains("sample number 30"),
                         castnet::error);
}

TEST_CASE("generated samples are a data set as others: parts, caches, augmentation") {
    auto const data = generated<label<2>, shape<1, 2, 2>>(
        10, [](size_t i, auto x) { std::fill(x.begin(), x.end(), float(i)); },
        [](size_t i, auto y) { y[0] = float(i % 2); });
    auto const some = augment(cache(subset{data, {7, 2}}), random_flip{});
    float x[4], y = -1;
    some.copy_input(0, x);
    some.copy_target(0, &y);
    CHECK(x[0] == 7);
    CHECK(y == 1);
}

TEST_CASE("labels that are none are refused where something is made of them") {
    for (float const wrong : {2.0F, -1.0F, 0.5F, std::nanf("")}) {
        auto const data = generated<label<2>, shape<1>>(
            8, [](size_t i, auto x) { x[0] = float(i); },
            [=](size_t i, auto kind) { kind[0] = i == 4 ? wrong : float(i % 2); });
        auto const refused = [](auto const& f) {
            CHECK_THROWS_WITH_AS(f(), doctest::Contains("the label of sample 4 is "),
                                 castnet::error);
        };
        float to[2];
        refused([&] { one_hot(data).copy_target(4, to); });
        refused([&] { binary(data).copy_target(4, to); });
        refused([&] { stratified_split(data, 0.5); });
        refused([&] { balanced_sample(data); });
    }
}
