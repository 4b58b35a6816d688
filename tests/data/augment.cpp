// The expected images of affine are SciPy's (affine_golden.py).
#include <castnet/data/augment.hpp>
#include <castnet/data/dataset.hpp>
#include <castnet/data/map.hpp>
#include <castnet/data/transforms.hpp>

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>

using namespace castnet;
using namespace castnet::data;

namespace {

using images = dataset<label<2>, shape<2, 4, 6>>;

images some_images(size_t count) {
    std::vector<float> x(count * 48);
    std::vector<int> labels(count);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = float(i * 37 % 101) / 100;
    }
    return images{std::move(x), std::move(labels)};
}

template <class Data>
std::vector<float> sample_of(Data const& data, size_t sample) {
    std::vector<float> x(Data::template input_shape<0>::count);
    data.copy_input(sample, x.data());
    return x;
}

std::vector<float> after(auto const& transform, std::vector<float> x, std::uint64_t seed = 0) {
    data::random_stream random{1, seed, 0};
    transform_image(transform, pixels<float>{x.data(), 2, 4, 6}, random);
    return x;
}

struct affine_case {
    affine transform;
    std::vector<double> expected;
};
std::vector<affine_case> const scipy{
    {{30, 0, 0, 0, 1, 1, fill_mode::nearest, 0},
     {76.1347,  142.6513, 191.6455, 115.6039, 81.4413,  82.0694,  110.9500, 43.2923,  118.4375,
      202.0045, 210.7724, 178.7269, 146.9409, 191.6391, 72.7405,  239.7654, 175.3324, 43.0000,
      116.9019, 89.2769,  173.0663, 88.5570,  71.7407,  111.1443, 159.8179, 143.0610, 134.3669,
      150.0596, 150.5411, 112.6279, 104.0108, 197.4397, 178.0289, 155.1628, 148.4019}},
    {{0, 1.25, -2.5, 0, 1, 1, fill_mode::reflect, 0},
     {195.5000, 132.2500, 74.7500,  132.2500, 195.5000, 186.6250, 199.7500, 93.3750,  95.7500,
      149.5000, 95.7500,  93.3750,  113.0000, 123.2500, 128.0000, 101.8750, 110.0000, 101.8750,
      128.0000, 176.1250, 120.7500, 125.0000, 77.5000,  122.0000, 77.5000,  125.0000, 194.5000,
      160.5000, 126.0000, 85.6250,  118.0000, 85.6250,  126.0000, 188.3750, 147.2500}},
    {{-20, 0.5, 1, 15, 0.8, 1.3, fill_mode::nearest, 0},
     {117.6246, 170.2493, 215.6233, 159.4671, 176.8409, 116.0000, 116.0000, 109.0325, 102.2858,
      96.1047,  219.4450, 52.9172,  100.5434, 116.0000, 96.9846,  134.3973, 132.1203, 184.8323,
      111.1638, 90.3044,  88.2118,  76.1093,  162.5997, 186.4685, 48.8985,  151.5681, 124.0148,
      104.0452, 69.9038,  181.4790, 171.3433, 119.3277, 167.1308, 214.0708, 163.8281}},
    {{10, -1, 0.25, -10, 1.2, 0.7, fill_mode::constant, 9},
     {9.0000,   9.0000,   9.0000,   9.0000,   9.0000,   9.0000,   12.5973,  40.4260,  78.4176,
      138.8717, 132.1930, 86.2887,  169.5129, 138.2008, 187.0400, 201.7110, 214.3871, 215.8467,
      208.6336, 94.3750,  87.2953,  81.2147,  140.8885, 85.7710,  116.5767, 139.9286, 131.5498,
      159.7145, 122.0321, 161.0099, 182.7075, 140.3320, 98.7591,  132.5301, 160.7796}},
    {{45, 2, 3, 20, 1.5, 1.5, fill_mode::wrap, 0},
     {207.6295, 174.6548, 157.6083, 126.9209, 62.7455,  175.9302, 124.6365, 156.3539, 161.3893,
      128.4083, 197.5538, 77.3564,  135.9019, 117.8853, 95.4171,  135.3890, 182.9537, 174.1207,
      128.9936, 183.0456, 125.1996, 210.9006, 97.4766,  86.7116,  199.8377, 115.3308, 88.5947,
      159.3410, 128.5834, 140.4067, 37.5236,  63.9407,  145.6532, 170.0187, 96.9132}},
};

} // namespace

TEST_CASE("affine transforms are Keras's, around the middle of the image") {
    for (affine_case const& a : scipy) {
        std::vector<double> x(35);
        for (size_t i = 0; i < x.size(); ++i) {
            x[i] = double((i * 37 + i * i * 11) % 251);
        }
        random_stream unused{0, 0, 0};
        transform_image(a.transform, pixels<double>{x.data(), 1, 5, 7}, unused);
        CAPTURE(a.transform.rotation);
        for (size_t i = 0; i < x.size(); ++i) {
            CHECK(x[i] == doctest::Approx(a.expected[i]).epsilon(1e-5));
        }
    }
}

TEST_CASE("flips reverse columns or rows of every channel") {
    auto const x = sample_of(some_images(1), 0);
    auto const columns = after(random_flip{.horizontal = 1}, x);
    auto const rows = after(random_flip{.horizontal = 0, .vertical = 1}, x);
    for (size_t c = 0; c < 2; ++c) {
        for (size_t y = 0; y < 4; ++y) {
            for (size_t i = 0; i < 6; ++i) {
                CHECK(columns[(c * 4 + y) * 6 + i] == x[(c * 4 + y) * 6 + 5 - i]);
                CHECK(rows[(c * 4 + y) * 6 + i] == x[(c * 4 + 3 - y) * 6 + i]);
            }
        }
    }
    CHECK(after(random_flip{.horizontal = 0}, x) == x);
    int flipped = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        flipped += after(random_flip{}, x, seed) == columns;
    }
    CHECK(flipped > 150);
    CHECK(flipped < 250);
}

TEST_CASE("a shift moves by whole pixels within its padding, all of them") {
    auto const x = sample_of(some_images(1), 0);
    bool seen[3][3] = {};
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto const moved = after(random_shift{.padding = 1, .value = -1}, x, seed);
        int matches = 0;
        for (int down = -1; down <= 1; ++down) {
            for (int right = -1; right <= 1; ++right) {
                bool same = true;
                for (int y = 0; y < 4; ++y) {
                    for (int i = 0; i < 6; ++i) {
                        int const from_y = y - down, from_x = i - right;
                        bool const within = from_y >= 0 && from_y < 4 && from_x >= 0 && from_x < 6;
                        float const expected = within ? x[size_t(from_y * 6 + from_x)] : -1;
                        same = same && moved[size_t(y * 6 + i)] == expected;
                    }
                }
                matches += same;
                seen[down + 1][right + 1] |= same;
            }
        }
        CHECK(matches == 1);
    }
    CHECK(std::all_of(&seen[0][0], &seen[0][0] + 9, [](bool s) { return s; }));
}

TEST_CASE("a cutout is a square within the image, of one value") {
    auto const x = sample_of(some_images(1), 0);
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        auto const cut = after(cutout{.size = 3, .value = 7}, x, seed);
        size_t const sevens = size_t(std::count(cut.begin(), cut.end(), 7.0F));
        CHECK(sevens % 2 == 0); // the same in both channels
        CHECK(sevens >= 2 * 2 * 2);
        CHECK(sevens <= 2 * 3 * 3);
        for (size_t i = 0; i < x.size(); ++i) {
            CHECK((cut[i] == 7 || cut[i] == x[i]));
        }
    }
}

TEST_CASE("jitter keeps what its ranges leave alone") {
    auto const x = sample_of(some_images(1), 0);
    CHECK(after(color_jitter{}, x) == x);
    auto const light = after(color_jitter{.brightness = 0.3}, x, 5);
    float const factor = light[1] / x[1];
    CHECK(std::abs(factor - 1) <= 0.3F);
    for (size_t i = 0; i < x.size(); ++i) {
        CHECK(light[i] == doctest::Approx(std::min(x[i] * factor, 1.0F)).epsilon(1e-5));
    }
}

TEST_CASE("contrast keeps the mean of the grey image, and saturation the grey of each pixel") {
    std::vector<float> x(48); // three channels of 4 x 4
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = 0.3F + float(i * 7 % 16) / 40;
    }
    auto const grey = [](std::vector<float> const& v, size_t i) {
        return 0.2989 * double(v[i]) + 0.587 * double(v[16 + i]) + 0.114 * double(v[32 + i]);
    };
    double before = 0, after_contrast = 0;
    auto const changed = [&](color_jitter const& jitter) {
        std::vector<float> image = x;
        castnet::data::random_stream random{1, 5, 0};
        castnet::data::transform_image(jitter, castnet::data::pixels<float>{image.data(), 3, 4, 4},
                                       random);
        return image;
    };
    auto const y = changed({.contrast = 0.4}), z = changed({.saturation = 0.4});
    for (size_t i = 0; i < 16; ++i) {
        before += grey(x, i);
        after_contrast += grey(y, i);
        CHECK(grey(z, i) == doctest::Approx(grey(x, i)).epsilon(1e-3)); // 0.2989 + … = 0.9999
    }
    CHECK(after_contrast == doctest::Approx(before).epsilon(1e-3));
    CHECK(y != x);
    CHECK(z != x);
}

TEST_CASE("jitter by more than the whole makes no negative factors, as torchvision's") {
    float least = 1, most = 0;
    for (std::uint64_t sample = 0; sample < 200; ++sample) {
        std::vector<float> image{0.1F, 0.2F, 0.3F};
        castnet::data::random_stream random{1, 5, sample};
        castnet::data::transform_image(color_jitter{.contrast = 1.5, .most = 10},
                                       castnet::data::pixels<float>{image.data(), 1, 1, 3}, random);
        least = std::min(least, image[2] - image[0]);
        most = std::max(most, image[2] - image[0]);
    }
    CHECK(least >= 0);
    CHECK(least < 0.02F);
    CHECK(most > 0.3F);
}

TEST_CASE("standardized channels have mean 0 and deviation 1 where their numbers do") {
    auto const x = after(standardize{{0.5, 0.25}, {2, 4}}, std::vector<float>(48, 1));
    CHECK(x[0] == 0.25F);
    CHECK(x[47] == doctest::Approx(0.1875));
    CHECK_THROWS_AS((standardize{{0}, {0}}), castnet::error);
    CHECK_THROWS_AS((standardize{{std::nan("")}, {1}}), castnet::error);
    CHECK_THROWS_AS((standardize{{0, 1}, {1}}), castnet::error);
    CHECK_THROWS_AS(after(standardize{{0, 0, 0}, {1, 1, 1}}, std::vector<float>(48, 1)),
                    castnet::error);
}

TEST_CASE("transforms refuse numbers that they cannot draw by") {
    auto const refusal = [](auto const& transform) {
        try {
            (void)augment(some_images(1), random_flip{}, transform);
        } catch (error const& e) {
            return std::string{e.what()};
        }
        return std::string{};
    };
    CHECK(refusal(random_flip{.horizontal = 50}) ==
          "castnet: data::random_flip: horizontal is 50, expected a number from 0 to 1");
    CHECK(refusal(color_jitter{.contrast = -0.5}) ==
          "castnet: data::color_jitter: contrast is -0.5, expected a finite number that is not "
          "negative");
    CHECK(refusal(random_affine{.zoom = 1}) ==
          "castnet: data::random_affine: zoom is 1, expected a number from 0 to below 1");
    CHECK(refusal(affine{.rotation = std::nan("")}) ==
          "castnet: data::affine: rotation is nan, expected a finite number");
    CHECK(refusal(random_shift{.value = std::nan("")}) != "");
    CHECK(refusal(cutout{.value = HUGE_VAL}) != "");
    CHECK(refusal(random_affine{.rotation = 30, .zoom = 0.2}) == "");
}

TEST_CASE("samples are augmented anew in every epoch, and the same again for the same epoch") {
    auto const data = augment(some_images(20), random_flip{}, random_affine{.rotation = 30});
    std::vector<std::vector<float>> first, second;
    data.begin_epoch({.seed = 7, .number = 0});
    for (size_t i = 0; i < 20; ++i) {
        first.push_back(sample_of(data, i));
    }
    data.begin_epoch({.seed = 7, .number = 1});
    for (size_t i = 0; i < 20; ++i) {
        second.push_back(sample_of(data, i));
        CHECK(first[i] != second[i]);
    }
    data.begin_epoch({.seed = 7, .number = 0});
    for (size_t i = 20; i-- > 0;) {
        CHECK(sample_of(data, i) == first[i]);
    }
    data.begin_epoch({.seed = 8, .number = 0});
    CHECK(sample_of(data, 3) != first[3]);
}

TEST_CASE("a mapped input has the shape and the numbers that its function writes") {
    auto const sums = map<shape<2>>(some_images(3), [](auto in, auto out) {
        out[0] = std::accumulate(in.begin(), in.begin() + 24, 0.0F);
        out[1] = std::accumulate(in.begin() + 24, in.end(), 0.0F);
    });
    static_assert(std::is_same_v<decltype(sums)::input_shape<0>, shape<2>>);
    auto const x = sample_of(some_images(3), 2);
    CHECK(sample_of(sums, 2)[1] == doctest::Approx(std::accumulate(x.begin() + 24, x.end(), 0.0F)));
    CHECK(sums.size() == 3);
}
