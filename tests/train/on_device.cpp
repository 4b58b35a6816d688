// Trainings on data that the device keeps, against those whose samples the host brings: the same
// bits, or nearly those where a GPU computes images, since it rounds a * b + c once.
#include <castnet/castnet.hpp>
#include <castnet/data/augment.hpp>
#include <castnet/data/generated.hpp>
#include <castnet/data/label_encoding.hpp>
#include <castnet/data/mixing.hpp>
#include <castnet/data/sampling.hpp>
#include <castnet/data/transforms.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../parameters.hpp"
#include "policy.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;

namespace {

#ifdef __CUDACC__
constexpr double rounding = 1e-6;
#else
constexpr double rounding = 0;
#endif

double number(std::size_t i) {
    return double(i * 37 % 101) / 50 - 1;
}

using image = cn::shape<3, 4, 4>;
using data_set = cn::data::dataset<cn::data::label<5>, image, cn::shape<7>>;

// Images as bytes, numbers beside them, weights of which some are 0, and not in the columns' order.
data_set samples(std::size_t count) {
    std::vector<unsigned char> pixels(count * image::count);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        pixels[i] = static_cast<unsigned char>(i * i % 251);
    }
    std::vector<float> numbers(count * 7);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = float(number(i * i));
    }
    std::vector<int> labels(count);
    std::vector<float> weights(count);
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) {
        labels[i] = int(i * 3 % 5);
        weights[i] = i % 4 == 1 ? 0.0F : float(i % 3) + 0.5F;
        order[i] = (i * 7 + 3) % count;
    }
    return data_set{cn::data::column{pixels, 1.0 / 255, -0.5}, cn::data::column{numbers},
                    cn::data::column{labels}}
        .with_weights(weights)
        .subset(order)
        .skip(2);
}

struct two_inputs {
    constexpr auto operator()(auto image_input, auto numbers) const {
        return cn::concat(image_input | cn::max_pool2d<2> | cn::flatten, numbers) | cn::dense<9> |
               cn::batch_norm | cn::relu | cn::dropout<0.25F> | cn::dense<5>;
    }
};
using network = cn::network<two_inputs{}, cn::input<3, 4, 4>, cn::input<7>>;

template <class Policy, bool OnDevice>
std::vector<double> train() {
    auto const data = [] {
        if constexpr (OnDevice) {
            return [](data_set const& d) { return cn::on_device(d); };
        } else {
            return [](data_set const& d) { return d; };
        }
    }();
    cn::model<network, Policy, cn::batch<8>> model{cn::seed{4}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    auto const h = training.fit(data(samples(31)), {.epochs = 2,
                                                    .validation = data(samples(13)),
                                                    .class_weight = {1, 0.5F, 2, 1, 0},
                                                    .verbose = cn::verbosity::silent});
    auto const held = data(samples(23));
    std::vector<double> all{training.evaluate(held).loss(),
                            training.step(held, std::vector<std::size_t>{20, 3, 3}).loss(),
                            training.step(samples(11), std::vector<std::size_t>{2, 8}).loss()};
    for (char const* const column : {"loss", "accuracy", "val_loss", "val_accuracy"}) {
        all.push_back(h[column].back());
    }
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
        auto const w = model.get(model.parameter_at(i).name.text());
        all.insert(all.end(), w.begin(), w.end());
    }
    auto const y = model.predict(held);
    all.insert(all.end(), y.begin(), y.end());
    return all;
}

template <class Policy>
void check_training() {
    auto const expected = train<Policy, false>();
    for (double const x : expected) {
        REQUIRE(x == x);
    }
    CHECK(train<Policy, true>() == expected);
}

template <class Device>
constexpr bool copies_data = requires { typename Device::stored_array; };

} // namespace

TEST_CASE("samples from the device are those that the host brings") {
    check_training<check::policy>();
}

TEST_CASE("so they are for several replicas") {
    check_training<cn::policy::logical<check::policy, 3>>();
}

TEST_CASE("what changes in every epoch does so on the device") {
    auto const trained = [](auto const& keep) {
        cn::model<network, check::policy, cn::batch<8>> model{cn::seed{4}};
        auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
        auto const changing = [](std::size_t count) {
            return cn::data::balanced_sample(
                cn::data::augment(samples(count), cn::data::random_flip{}), count);
        };
        auto const data = keep(changing(31)), other = keep(changing(17));
        auto const h = training.fit(
            data, {.epochs = 3, .validation = other, .verbose = cn::verbosity::silent});
        auto all = h["loss"];
        all.push_back(h["val_loss"].back());
        all.push_back(training.step(data, std::vector<std::size_t>{5, 1}).loss());
        return all;
    };
    auto const expected = trained([](auto data) { return data; });
    CHECK(trained([](auto data) { return cn::on_device(data); }) == expected);
}

TEST_CASE("images are changed on the device as on the host") {
    auto const trained = [](auto const& keep, auto const&... transforms) {
        cn::model<network, check::policy, cn::batch<8>> model{cn::seed{4}};
        auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
        auto const data = keep(cn::data::augment(samples(31), transforms...));
        auto const h = training.fit(data, {.epochs = 3, .verbose = cn::verbosity::silent});
        auto all = h["loss"];
        auto const w = model.get(model.parameter_at(0).name.text());
        all.insert(all.end(), w.begin(), w.end());
        return all;
    };
    auto const same = [&](auto const&... transforms) {
        auto const expected = trained([](auto data) { return data; }, transforms...);
        auto const found = trained([](auto data) { return cn::on_device(data); }, transforms...);
        CHECK(check::largest_difference(found, expected) <= rounding);
    };
    same(cn::data::random_flip{.vertical = 0.5});
    same(cn::data::random_shift{.padding = 2, .value = 0.25},
         cn::data::random_affine{.rotation = 30, .shear = 10, .fill = cn::data::fill_mode::reflect},
         cn::data::random_resized_crop{}, cn::data::cutout{.size = 2},
         cn::data::standardize{{0.1, 0.2, 0.3}, {1, 2, 3}});
    same(cn::data::color_jitter{.brightness = 0.5});
    same(cn::data::random_shift{.padding = 1},
         cn::data::color_jitter{.brightness = 0.4, .contrast = 0.5, .saturation = 0.6},
         cn::data::random_flip{});
}

TEST_CASE("samples are mixed on the device as on the host") {
    auto const trained = [](auto const& keep, auto const& mixed) {
        cn::model<network, check::policy, cn::batch<8>> model{cn::seed{4}};
        auto training = cn::compile(model, cn::categorical_cross_entropy, cn::adam{});
        auto const h = training.fit(keep(mixed), {.epochs = 3, .verbose = cn::verbosity::silent});
        auto all = h["loss"];
        auto const w = model.get(model.parameter_at(0).name.text());
        all.insert(all.end(), w.begin(), w.end());
        return all;
    };
    auto const same = [&](auto const& mixed) {
        auto const expected = trained([](auto data) { return data; }, mixed);
        auto const found = trained([](auto data) { return cn::on_device(data); }, mixed);
        CHECK(check::largest_difference(found, expected) <= rounding);
        return expected;
    };
    auto const plain = [] { return cn::data::one_hot(samples(31)); };
    auto const drawn = [&] { return cn::data::augment(plain(), cn::data::random_flip{}); };
    CHECK(same(cn::data::mixup(plain(), 0.4)) != same(cn::data::cutmix(plain())));
    CHECK(same(cn::data::mixup(drawn(), 0.4)) != same(cn::data::mixup(plain(), 0.4)));
    same(cn::data::cutmix(drawn()));
    same(cn::data::mixup(cn::data::cutmix(drawn()))); // one of which the host does
}

TEST_CASE("samples that do not change are copied once") {
    using net = cn::sequential<cn::input<4>, cn::dense<3>>;
    int reads = 0;
    auto const data = cn::data::one_hot(cn::data::generated<cn::data::label<3>, cn::shape<4>>(
        16,
        [&](std::size_t i, auto to) {
            ++reads;
            std::fill(to.begin(), to.end(), number(i));
        },
        [](std::size_t i, auto to) { std::fill(to.begin(), to.end(), int(i % 3)); }));
    cn::model<net, check::policy, cn::batch<8>> model;
    auto training = cn::compile(model, cn::categorical_cross_entropy, cn::adam{});
    training.fit(cn::on_device(data), {.epochs = 3, .verbose = cn::verbosity::silent});
    CHECK(reads == (copies_data<check::policy::device> ? 16 : 48));
}

TEST_CASE("samples that could not be read are read for the next fit") {
    using net = cn::sequential<cn::input<1, 4, 4>, cn::flatten, cn::dense<3>>;
    bool fails = false;
    auto const images =
        cn::data::one_hot(cn::data::generated<cn::data::label<3>, cn::shape<1, 4, 4>>(
            16,
            [&](std::size_t i, auto to) {
                if (fails && i == 9) {
                    throw cn::error{"unreadable"};
                }
                std::fill(to.begin(), to.end(), number(i));
            },
            [](std::size_t i, auto to) { std::fill(to.begin(), to.end(), int(i % 3)); }));
    auto const check = [&](auto const& changing) {
        auto const losses = [&](bool first_fails) {
            cn::model<net, check::policy, cn::batch<16>> model{cn::seed{4}};
            auto training = cn::compile(model, cn::categorical_cross_entropy, cn::adam{});
            auto const data = cn::on_device(changing);
            fails = first_fails;
            if (fails) {
                CHECK_THROWS_AS(training.fit(data, {.verbose = cn::verbosity::silent}), cn::error);
                fails = false;
            }
            return training.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent})["loss"];
        };
        CHECK(losses(true) == losses(false));
    };
    check(cn::data::augment(images, cn::data::random_flip{}));
    check(cn::data::mixup(images));
}

TEST_CASE("a step says which sample there is none of") {
    cn::model<network, check::policy, cn::batch<8>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    auto const held = cn::on_device(samples(11));
    std::vector<std::size_t> const wrong{1, 9};
    CHECK_THROWS_WITH_AS(
        training.step(held, wrong),
        copies_data<check::policy::device>
            ? "castnet: a step was given sample number 9 of a data set that holds 9"
            : "castnet: dataset: found sample number 9, expected one below 9",
        cn::error);
}
