// Networks on several devices take the steps that they take on one.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>
#include <castnet/policy/model_parallel.hpp>

#include "../model_parallel.hpp"
#include "../temporary_path.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>

namespace cn = castnet;
using model_parallel_test::samples;

namespace {

using cn::conv2d, cn::dense, cn::input, cn::on, cn::relu;
using one = cn::policy::cpu;
using three = cn::policy::model_parallel<one, 3>;

// Two inputs, an encoder that two devices share, and a third device that joins what they make.
template <auto Encoder>
struct siamese {
    static constexpr auto encode = cn::shared<"encoder", Encoder>;
    constexpr auto operator()(auto a, auto b) const {
        return cn::concat(a | on<0, encode>, b | on<1, encode>) |
               on<2, dense<8>.l2(1e-3F), relu, dense<3>>;
    }
};
template <auto Encoder>
using pair_of = cn::network<siamese<Encoder>{}, input<1, 10, 10>, input<1, 10, 10>>;

// A small network (device/cpu/small.hpp), one of products, one with stages of images.
using small = cn::sequential<input<9>, on<1, dense<8>, cn::tanh>, on<2, dense<6>, cn::tanh>,
                             on<0, cn::dropout<0.1F>, dense<3>>>;
using products = pair_of<cn::block<cn::flatten, dense<40>, relu, cn::dropout<0.3F>, dense<12>>>;
using convolutions = pair_of<cn::block<conv2d<6, 3>, cn::batch_norm, relu, cn::max_pool2d<2>,
                                       cn::dropout<0.2F>, cn::flatten, dense<12>>>;
using frozen =
    pair_of<cn::block<cn::frozen<conv2d<6, 3>, cn::batch_norm>, relu, cn::flatten, dense<12>>>;

// A chain in three parts, cut between layers of images.
using pipeline =
    cn::sequential<input<1, 10, 10>, on<2, conv2d<6, 3>, relu>,
                   on<0, conv2d<8, 3>, cn::batch_norm, relu, cn::max_pool2d<2>>,
                   on<1, cn::residual<conv2d<8, 3, cn::conv{.padding = 1}>>, cn::flatten>,
                   on<2, dense<3>>>;

// What a fit leaves: predictions, and all parameters by name with the losses of each epoch.
struct fitted {
    std::vector<float> predictions, others;

    // One device folds batch normalisation into the weights before it for predictions; several do
    // not, and round otherwise.
    friend bool operator==(fitted const& a, fitted const& b) {
        return a.others == b.others &&
               std::ranges::equal(a.predictions, b.predictions, [](float x, float y) {
                   return std::abs(x - y) <= 1e-5F * std::max(1.0F, std::abs(y));
               });
    }
};
template <class Network, class Policy, class Optimizer = cn::adam,
          class Loss = std::remove_cvref_t<decltype(cn::cross_entropy)>>
fitted after_fit(Optimizer const& optimizer = {}, Loss const& loss = {}) {
    auto const data = samples<Network>(37); // the last step is not full
    cn::model<Network, Policy, cn::batch<16>> model{cn::seed{11}};
    auto training = cn::compile(model, loss, optimizer, cn::accuracy);
    auto const history = training.fit(data, {.epochs = 3,
                                             .validation = data.take(9),
                                             .class_weight = {1, 0.5F, 2},
                                             .verbose = cn::verbosity::silent});
    fitted now{model.predict(data), {}};
    std::vector<float>& all = now.others;
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
        auto const w = model.get(model.parameter_at(i).name.text());
        all.insert(all.end(), w.begin(), w.end());
    }
    for (char const* column : {"loss", "accuracy", "val_loss", "val_accuracy"}) {
        for (double const x : history[column]) {
            all.push_back(float(x));
        }
    }
    return now;
}

} // namespace

static_assert(cn::cpu::is_small(cn::model<small, one, cn::batch<16>>::prediction_plan));
static_assert(cn::cpu::is_small(cn::model<small, three, cn::batch<16>>::prediction_plan));

TEST_CASE_TEMPLATE("devices end with the bits of one", Network, small, products, convolutions,
                   frozen) {
    auto const expected = after_fit<Network, one>();
    CHECK(after_fit<Network, three>() == expected);
    CHECK(after_fit<Network, three>() == expected); // whoever was fast
    CHECK(after_fit<Network, cn::policy::model_parallel<one, 4>>() == expected);
}

TEST_CASE(
    "so they do with numbers of the loss, which is computed on another device than the first") {
    cn::focal_cross_entropy_loss const loss{.alpha = 1, .gamma = 3};
    auto const expected = after_fit<pipeline, one>(cn::adam{}, loss);
    CHECK(after_fit<pipeline, three>(cn::adam{}, loss) == expected);
    CHECK(after_fit<pipeline, three>(cn::adam{}, cn::focal_cross_entropy) != expected);
}

TEST_CASE("so they do with clipped gradients") {
    auto const clipped = cn::clip_norm(cn::sgd{.learning_rate = 0.1}, 0.1);
    auto const expected = after_fit<products, one>(clipped);
    CHECK(after_fit<products, three>(clipped) == expected);
    CHECK(after_fit<products, one>(cn::sgd{.learning_rate = 0.1}) != expected);
}

// Where devices part within a stage of images, sums over samples are made in other portions.
TEST_CASE("a chain of devices takes the same steps up to rounding") {
    auto const a = after_fit<pipeline, one>(), b = after_fit<pipeline, three>();
    REQUIRE(a.others.size() == b.others.size());
    float worst = 0;
    for (std::size_t i = 0; i < a.others.size(); ++i) {
        worst = std::max(worst, std::fabs(a.others[i] - b.others[i]));
    }
    CHECK(worst < 1e-4F);
    CHECK(after_fit<pipeline, three>() == b);
}

TEST_CASE("replicas have several devices each") {
    CHECK(after_fit<convolutions, cn::policy::mirrored<three, 2>>() ==
          after_fit<convolutions, cn::policy::mirrored<one, 2>>());
    // whose gradients do not lie in the order of the layers
    CHECK(after_fit<small, cn::policy::mirrored<three, 2>>() ==
          after_fit<small, cn::policy::mirrored<one, 2>>());
}

TEST_CASE("a training goes on with other devices") {
    using network = convolutions;
    auto const data = samples<network>(32);
    check::temporary_path const place{"devices.safetensors"};
    std::string const& file = place.name;
    cn::model<network, one, cn::batch<16>> model{cn::seed{4}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    auto const fit = [&](auto& t, int epochs) {
        return t.fit(data, {.epochs = epochs, .verbose = cn::verbosity::silent});
    };
    fit(training, 1);
    cn::save(training, file);
    cn::model<network, three, cn::batch<16>> other{cn::seed{4}};
    auto resumed = cn::compile(other, cn::cross_entropy, cn::adam{});
    cn::load(resumed, file);
    CHECK(fit(resumed, 1)["loss"] == fit(training, 1)["loss"]);
}

TEST_CASE("memory is that of the devices, and of the batch") {
    cn::model<convolutions, three, cn::batch<16>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    using type = decltype(training);
    static_assert(type::device_bytes(0) + type::device_bytes(1) + type::device_bytes(2) +
                      type::batch_bytes ==
                  type::bytes);
    static_assert(type::device_bytes(2) < type::device_bytes(1)); // has no images
    CHECK(training.allocated_bytes() == type::bytes);
    auto const data = samples<convolutions>(16);
    std::vector<std::size_t> chosen(16);
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    CHECK(cn::profile(training, data, chosen).size() ==
          std::size_t(type::training_plan().sizes.launches)); // copies, too
    CHECK(cn::memory_report(training).find("  on device 2         ") != std::string::npos);
}
