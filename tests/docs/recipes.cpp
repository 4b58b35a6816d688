// Programs of docs/guide.md, between "// [name]" and "// [/name]"; check_snippets.sh compares.
#include <castnet/castnet.hpp>
#include <castnet/data.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>
#include <vector>

namespace cn = castnet;

namespace {

// [statistics]
struct standardize_layer { // by running means and variances of each element
    static constexpr char const* name = "standardize";

    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{name}};
        auto mean = cn::new_statistic<S>(*x.g, "mean");
        auto variance = cn::new_statistic<S>(*x.g, "variance", cn::ones);
        if (x.g->trains()) {
            mean = cn::update(mean, cn::lerp(mean, cn::batch_mean(x), 0.01));
            auto const now = cn::batch_mean(cn::square(x - mean));
            variance = cn::update(variance, cn::lerp(variance, now, 0.01));
        }
        return (x - mean) * cn::rsqrt(variance + 1e-5);
    }
};
// [/statistics]

// [codebook]
template <std::size_t Codes>
struct quantize_layer { // the nearest code, which follows those who chose it (van den Oord 2017)
    static constexpr char const* name = "quantize";

    template <std::size_t N>
    constexpr auto operator()(cn::symbol<cn::shape<N>> x) const {
        using column = cn::shape<Codes, 1>;
        cn::scope_guard const scope{*x.g, cn::layer_kind{"quantize"}};
        auto counts = cn::new_statistic<column>(*x.g, "counts", cn::ones);
        auto sums = cn::new_statistic<cn::shape<Codes, N>>(*x.g, "sums", cn::random_normal(1));
        auto const codes = sums / counts;
        auto const distances = cn::sum_channels(cn::square(codes - x));
        auto const chosen = cn::one_hot<Codes>(cn::argmax(-distances)) | cn::reshape<Codes, 1>;
        if (x.g->trains()) {
            cn::update(counts, cn::lerp(counts, cn::batch_sum(chosen), 0.01));
            cn::update(sums, cn::lerp(sums, cn::batch_sum(chosen * x), 0.01));
        }
        auto const nearest = cn::sum_pixels(chosen * codes);
        return x + cn::stop_gradient(nearest - x); // x has the gradient of its code
    }
};
// [/codebook]

// [own_optimizer]
struct adabelief { // Zhuang et al. 2020
    double learning_rate = 1e-3, beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-8;
    static constexpr char const* name = "adabelief"; // in checkpoints
    static constexpr int slots = 2;                  // numbers of state for each one, 0 at first

    auto hyperparameters() const { // whose ranges are checked; a checkpoint has the same
        return std::to_array<cn::hyperparameter>({{"learning_rate", learning_rate},
                                                  {"beta_1", beta_1, cn::hyperparameter::below_one},
                                                  {"beta_2", beta_2, cn::hyperparameter::below_one},
                                                  {"epsilon", epsilon}});
    }
    template <class T>
    struct rule { // the constants of a step
        T rate, share_1, share_2, scale, epsilon;
        template <class V> // a T or a vector of them
        CASTNET_HD void operator()(V& parameter, V gradient, V& mean, V& variance) const {
            mean += share_1 * (gradient - mean);
            V const surprise = gradient - mean;
            variance += share_2 * (surprise * surprise - variance);
            parameter -= rate * mean / (scale * cn::square_root(variance) + epsilon);
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const { // from step 1 on
        double const n = double(step);
        return {T(rate / (1 - std::pow(beta_1, n))), T(1 - beta_1), T(1 - beta_2),
                T(1 / std::sqrt(1 - std::pow(beta_2, n))), T(epsilon)};
    }
};
// [/own_optimizer]

// [own_data]
struct ramps { // images of one channel, brighter from left to right or from top to bottom
    using target_type = cn::shape<1>;
    template <std::size_t>
    using input_shape = cn::shape<1, 8, 12>;
    static constexpr std::size_t input_count = 1;

    std::size_t size() const { return 100; }
    template <std::size_t I, class T>
    void copy_input(std::size_t sample, T* out) const {
        for (std::size_t row = 0; row < 8; ++row) {
            for (std::size_t column = 0; column < 12; ++column) {
                *out++ = T(sample % 2 == 0 ? column : row) / T(12);
            }
        }
    }
    template <class T>
    void copy_target(std::size_t sample, T* out) const {
        *out = T(sample % 2);
    }
};
// [/own_data]

// [noisy_data]
struct noisy_ramps { // for a network that removes noise, which is new in each epoch
    using target_type = cn::shape<1, 8, 12>;
    template <std::size_t>
    using input_shape = cn::shape<1, 8, 12>;
    static constexpr std::size_t input_count = 1;
    mutable std::uint64_t seed = 0, epoch = 0;

    std::size_t size() const { return ramps{}.size(); }
    void begin_epoch(cn::data::epoch const& now) const {
        seed = now.seed;
        epoch = now.number;
    }
    template <std::size_t I, class T>
    void copy_input(std::size_t sample, T* out) const {
        copy_target(sample, out);
        cn::data::random_stream random{0, seed, epoch << 40 ^ sample};
        for (std::size_t i = 0; i < target_type::count; ++i) {
            out[i] += T(0.1 * random.normal());
        }
    }
    template <class T>
    void copy_target(std::size_t sample, T* out) const {
        ramps{}.copy_input<0>(sample, out);
    }
};
// [/noisy_data]

// [missing]
struct known_mse { // of those elements of the target that are not NaN
    static constexpr bool labels = false;

    constexpr auto operator()(auto prediction, auto target) const {
        auto const missing = cn::isnan(target);
        auto const error = prediction - cn::where(missing, prediction, target);
        return cn::sum(cn::square(error)) / cn::maximum(cn::sum(1 - missing), 1);
    }
};
// [/missing]

// [matmul]
template <std::size_t Units>
struct projection_layer {
    static constexpr char const* name = "projection";

    template <std::size_t N>
    constexpr auto operator()(cn::symbol<cn::shape<N>> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"projection"}};
        auto const weight = cn::new_parameter<cn::shape<Units, N>>(
            *x.g, "weight", {.kind = cn::role::dense_weight, .start = cn::he_normal});
        return cn::matmul(x, weight);
    }
};
template <std::size_t Units>
inline constexpr projection_layer<Units> projection{};
// [/matmul]

// [standardized_conv]
template <std::size_t Filters>
struct standardized_conv_layer { // weight standardization (Qiao et al. 2019)
    static constexpr char const* name = "standardized_conv";

    template <std::size_t C, std::size_t H, std::size_t W>
    constexpr auto operator()(cn::symbol<cn::shape<C, H, W>> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"standardized_conv"}};
        auto const v =
            cn::new_parameter<cn::shape<Filters, C * 9>>(*x.g, "weight", {.start = cn::he_normal});
        auto const weight =
            (v - cn::mean<1>(v, cn::keepdims)) / cn::sqrt(cn::variance<1>(v, cn::keepdims) + 1e-5);
        return cn::matmul(weight, x | cn::unfold2d<3>) | cn::reshape<Filters, H - 2, W - 2>;
    }
};
// [/standardized_conv]

// [heads]
struct normalize_heads_layer { // of eight features each, as attention normalizes its queries
    template <std::size_t Time, std::size_t Features>
    constexpr auto operator()(cn::symbol<cn::shape<Time, Features>> x) const {
        using heads = cn::row_major_shape<Time, Features / 8, 8>; // cn::shape<…> is an image
        auto const h = x | cn::reshape_to<heads>;
        auto const mean_square = cn::sum_channels(cn::square(h)) / 8;
        return h * cn::rsqrt(mean_square + 1e-6) | cn::reshape<Time, Features>;
    }
};
inline constexpr normalize_heads_layer normalize_heads{};
// [/heads]

// [inner]
using classifier = cn::sequential<cn::input<2>, projection<16>, cn::tanh, cn::dense<3>>;
using first_layers = cn::sequential<cn::input<2>, projection<16>, cn::tanh>;
// [/inner]

// [saliency]
inline constexpr auto layers =
    cn::named<"layers", cn::block<cn::dense<16>, cn::tanh, cn::dense<3>>>;

struct saliency { // how the largest score changes with each input
    constexpr auto operator()(auto x) const {
        return cn::grad([](auto t) { return cn::max(layers(t)); }, x);
    }
};
using scores_network = cn::sequential<cn::input<2>, layers>;    // is trained, and saved
using saliency_network = cn::network<saliency{}, cn::input<2>>; // loads the same file
// [/saliency]

// [penalty]
struct penalized_critic { // of a Wasserstein GAN with gradient penalty
    static constexpr auto score =
        cn::shared<"critic", cn::block<cn::dense<16>, cn::tanh, cn::dense<1>>>;

    constexpr auto operator()(auto real, auto fake, auto share) const {
        auto const between = share * real + (1 - share) * fake;
        auto const slope = cn::grad([](auto x) { return cn::sum(score(x)); }, between);
        return cn::outputs<"real", "fake", "penalty">(score(real), score(fake),
                                                      cn::square(cn::norm(slope) - 1));
    }
};
using critic_network = cn::network<penalized_critic{}, cn::input<2>, cn::input<2>, cn::input<1>>;
// [/penalty]

struct critic_loss {
    using targets = cn::data::targets<>;
    constexpr auto operator()(auto real, auto fake, auto penalty) const {
        return cn::sum(fake) - cn::sum(real) + 10 * penalty;
    }
};

// [window_attention]
template <std::size_t Height, std::size_t Width, std::size_t Side, std::size_t Heads>
struct window_attention_layer { // within windows of Side x Side places (Swin, Liu et al. 2021)
    static constexpr char const* name = "window_attention";
    static constexpr std::size_t down = Height / Side, across = Width / Side,
                                 windows = down * across, places = Side * Side;

    template <std::size_t Features>
    constexpr auto operator()(cn::symbol<cn::shape<Height * Width, Features>> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{name}};
        auto const all = x | cn::named<"qkv", cn::dense<3 * Features>>;
        auto const side_by_side = [](auto y) {
            return y | cn::reshape_to<cn::row_major_shape<down, Side, across, Side, Features>> |
                   cn::permute<1, 3, 0, 2, 4> | cn::reshape<places, windows * Features>;
        };
        auto const q = side_by_side(all | cn::slice_channels<0, Features>),
                   k = side_by_side(all | cn::slice_channels<Features, Features>),
                   v = side_by_side(all | cn::slice_channels<2 * Features, Features>);

        constexpr std::size_t scores_of_window = Heads * places * places;
        auto const bias = cn::new_parameter<cn::shape<scores_of_window>>(*x.g, "bias");
        auto const biased = [&]<cn::Shape S>(cn::symbol<S> scores) { // windows and their heads
            return cn::reshape_to<S>(cn::reshape<windows, scores_of_window>(scores) + bias);
        };
        auto const y = cn::attention<windows * Heads>(q, k, v, biased);
        return y | cn::reshape_to<cn::row_major_shape<Side, Side, down, across, Features>> |
               cn::permute<2, 0, 3, 1, 4> | cn::reshape<Height * Width, Features> |
               cn::named<"proj", cn::dense<Features>>;
    }
};
// [/window_attention]

// [adversaries]
struct adversaries {
    static constexpr auto generator =
        cn::named<"generator", cn::block<cn::dense<16>, cn::relu, cn::dense<2>>>;
    static constexpr auto discriminator =
        cn::shared<"discriminator", cn::block<cn::dense<16>, cn::relu, cn::dense<1>>>;

    constexpr auto operator()(auto real, auto noise) const {
        auto const made = generator(noise);
        auto const of_real = discriminator(real);
        return cn::outputs<"real", "fake", "made">(of_real, discriminator(made), made);
    }
};
using adversarial_network = cn::network<adversaries{}, cn::input<2>, cn::input<4>>;

struct discriminator_loss { // of the outputs; nothing is compared with them
    using targets = cn::data::targets<>;
    constexpr auto operator()(auto real, auto fake, auto) const {
        return cn::sum(cn::softplus(-real)) + cn::sum(cn::softplus(fake));
    }
};
struct generator_loss {
    using targets = cn::data::targets<>;
    constexpr auto operator()(auto, auto fake, auto) const { return cn::sum(cn::softplus(-fake)); }
};
// [/adversaries]

using normalized = cn::sequential<cn::input<2, 16>, normalize_heads>;

} // namespace

TEST_CASE("a convolution by a normalised weight") {
    constexpr auto of_image = cn::input<2, 5, 6>;
    using policy = cn::policy::basic_cpu<double>;
    cn::model<cn::sequential<of_image, standardized_conv_layer<4>{}>, policy, cn::batch<3>>
        standardized;
    cn::model<cn::sequential<of_image, cn::conv2d<4, 3>.no_bias()>, policy, cn::batch<3>> plain;
    auto const x = cn::random_normal<double, cn::shape<3, 2, 5, 6>>(1);
    auto const v = standardized.get<"0.weight">();
    cn::tensor const weight =
        (v - cn::mean<1>(v, cn::keepdims)) / cn::sqrt(cn::variance<1>(v, cn::keepdims) + 1e-5);
    plain.set("0.weight", std::vector<double>(weight.begin(), weight.end()));
    CHECK(cn::allclose(standardized.predict(x), plain.predict(x)));
}

TEST_CASE("statistics of the guide") {
    std::vector<float> x;
    for (int i = 0; i < 64; ++i) {
        x.insert(x.end(), {i % 2 == 0 ? 3.0F : 5.0F, i % 4 < 2 ? -1.0F : 1.0F});
    }
    cn::data::dataset<cn::shape<2>, cn::shape<2>> const data{x, x};
    using standardized = cn::sequential<cn::input<2>, standardize_layer{}, cn::dense<2>>;
    cn::model<standardized, cn::policy::cpu, cn::batch<16>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::mse, cn::sgd{});
    training.fit(data, {.epochs = 200, .verbose = cn::verbosity::silent});
    CHECK(model.get("0.mean")[0] == doctest::Approx(4).epsilon(0.01));
    CHECK(model.get("0.variance")[0] == doctest::Approx(1).epsilon(0.01));

    using quantized = cn::sequential<cn::input<2>, cn::dense<2>, quantize_layer<6>{}>;
    cn::model<quantized, cn::policy::cpu, cn::batch<16>> other{cn::seed{2}};
    auto const counted = [&] {
        auto const counts = other.get("1.counts");
        return std::accumulate(counts.begin(), counts.end(), 0.0F);
    };
    auto quantizing = cn::compile(other, cn::mse, cn::sgd{});
    double const before = quantizing.evaluate(data).loss();
    CHECK(counted() == 6);
    quantizing.fit(data, {.epochs = 300, .verbose = cn::verbosity::silent});
    CHECK(counted() == doctest::Approx(16).epsilon(0.01)); // samples of a batch
    CHECK(quantizing.evaluate(data).loss() < before / 10);
}

TEST_CASE("a tensor of three axes of the guide") {
    std::vector<float> x(32, 3.0F);
    x[31] = 4;
    cn::model<normalized, cn::policy::cpu, cn::batch<1>> model{cn::seed{1}};
    std::vector<float> const y = model.predict(x);
    CHECK(y[23] == doctest::Approx(1)); // of heads of equal numbers
    CHECK(y[24] == doctest::Approx(3 / std::sqrt((7 * 9 + 16) / 8.0)));
}

TEST_CASE("attention within windows is that of each window alone") {
    using policy = cn::policy::basic_cpu<double>;
    constexpr std::size_t height = 4, width = 6, side = 2, features = 8, heads = 2;
    using grid = cn::sequential<cn::input<height * width, features>,
                                window_attention_layer<height, width, side, heads>{}>;
    using window = cn::sequential<cn::input<side * side, features>,
                                  window_attention_layer<side, side, side, heads>{}>;
    cn::model<grid, policy, cn::batch<2>> whole{cn::seed{1}};
    cn::model<window, policy, cn::batch<2>> part;
    whole.set("0.bias", cn::random_normal<double, cn::shape<heads * 16>>(2));
    cn::copy_parameters(whole, part);

    auto const x = cn::random_normal<double, cn::shape<2, height, width, features>>(3);
    cn::tensor const y = whole.predict(cn::reshape<2, height * width, features>(x));
    cn::tensor const last_window = cn::slice<2, 4, 6>(cn::slice<1, 2, 4>(x));
    cn::tensor const of_window = part.predict(cn::reshape<2, side * side, features>(last_window));
    auto const images = cn::reshape<2, height, width, features>(y);
    CHECK(cn::allclose(cn::reshape<2, side, side, features>(of_window),
                       cn::slice<2, 4, 6>(cn::slice<1, 2, 4>(images))));
}

TEST_CASE("recipes of the guide") {
    auto const data = cn::data::blobs<3, 2>(120, 1);

    // [folds]
    std::size_t const folds = 4;
    double mean = 0;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        auto const [train, test] = cn::data::stratified_k_fold(data, folds, fold);
        cn::model<classifier, cn::policy::cpu, cn::batch<16>> model{cn::seed{fold}};
        auto training =
            cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 1e-2}, cn::accuracy);
        training.fit(train, {.epochs = 20, .verbose = cn::verbosity::silent});
        mean += training.evaluate(test)["accuracy"] / folds;
    }
    // [/folds]
    CHECK(mean > 0.8);

    cn::model<classifier, cn::policy::cpu, cn::batch<16>> model{cn::seed{1}};
    // [confusion]
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 1e-2},
                                cn::confusion_matrix<3>);
    training.fit(data, {.epochs = 20, .verbose = cn::verbosity::silent});
    auto const confusion = training.evaluate(data).counts<"confusion_matrix">();
    double const taken_for_2 = confusion(1, 2); // samples of class 1
    double const recall = confusion.recall(1);  // and precision, f1; accuracy() of all classes
    // [/confusion]
    CHECK(confusion.accuracy() > 0.8);
    CHECK(taken_for_2 <= 40);
    CHECK(recall > 0.7);

    // [output_of]
    std::vector<float> const features =
        cn::output_of<"1">(model, data); // 16 for each sample, of tanh
    // [/output_of]

    // [activations]
    cn::model<first_layers, cn::policy::cpu, cn::batch<16>> inner;
    cn::copy_parameters(model, inner); // "0.weight" has the same name in both
    std::vector<float> const activations = inner.predict(data); // 16 for each sample
    // [/activations]
    CHECK(activations == features);
    auto const weights = model.get("2.weight");
    double logit = model.get("2.bias")[0];
    for (std::size_t i = 0; i < 16; ++i) {
        logit += double(activations[i]) * double(weights[i]);
    }
    CHECK(logit == doctest::Approx(double(model.predict(data)[0])).epsilon(1e-4));
}

TEST_CASE("an optimizer of the guide") {
    using line = cn::sequential<cn::input<2>, cn::dense<3>>;
    cn::model<line, cn::policy::basic_cpu<double>, cn::batch<8>> model{cn::seed{1}};
    adabelief const numbers{.learning_rate = 0.1, .beta_1 = 0.5, .beta_2 = 0.75};
    auto training = cn::compile(model, cn::cross_entropy, cn::clip_norm(numbers, 1e6));
    auto const data = cn::data::blobs<3, 2>(8, 1);
    auto expected = model.get("0.weight");
    std::vector<double> mean(expected.size()), variance(expected.size());
    for (int step = 1; step <= 3; ++step) {
        training.step(data);
        auto const gradient = training.gradient("0.weight");
        auto const found = model.get("0.weight");
        for (std::size_t i = 0; i < expected.size(); ++i) {
            mean[i] = 0.5 * mean[i] + 0.5 * gradient[i];
            variance[i] = 0.75 * variance[i] + 0.25 * std::pow(gradient[i] - mean[i], 2);
            double const root = std::sqrt(variance[i] / (1 - std::pow(0.75, step)));
            expected[i] -= 0.1 * mean[i] / (1 - std::pow(0.5, step)) / (root + 1e-8);
            CHECK(std::abs(found[i] - expected[i]) < 1e-12);
        }
    }
    CHECK_THROWS_WITH_AS(cn::compile(model, cn::cross_entropy, adabelief{.beta_2 = 1}),
                         "castnet: adabelief: beta_2 is 1, expected a number from 0 to below 1",
                         cn::error);
}

TEST_CASE("a data set of the guide") {
    using network = cn::sequential<cn::input<1, 8, 12>, cn::flatten, cn::dense<1>>;
    cn::model<network, cn::policy::cpu, cn::batch<10>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::binary_cross_entropy, cn::adam{.learning_rate = 0.05},
                                cn::binary_accuracy);
    training.fit(ramps{}, {.epochs = 10, .verbose = cn::verbosity::silent});
    CHECK(training.evaluate(ramps{})["binary_accuracy"] == 1);
}

TEST_CASE("a data set of one's own is told of epochs") {
    using network = cn::sequential<cn::input<1, 8, 12>, cn::conv2d<1, 3, cn::conv{.padding = 1}>>;
    cn::model<network, cn::policy::cpu, cn::batch<25>> model{cn::seed{7}};
    auto training = cn::compile(model, cn::mse, cn::adam{});
    noisy_ramps const data;
    std::vector<float> first(96), second(96);
    data.copy_input<0>(3, first.data());
    training.fit(data, {.epochs = 3, .verbose = cn::verbosity::silent});
    CHECK(data.seed == 7);
    CHECK(data.epoch == 2);
    data.copy_input<0>(3, second.data());
    CHECK(first != second);
}

TEST_CASE("targets that are missing do not count") {
    using line = cn::sequential<cn::input<1>, cn::dense<2>>;
    std::vector<float> x, y; // each sample has x or 2 x, and the last one neither
    for (int i = 0; i < 40; ++i) {
        x.push_back(float(i) / 40);
        y.push_back(i % 2 == 0 ? x.back() : NAN);
        y.push_back(i % 2 == 1 ? 2 * x.back() : NAN);
    }
    x.push_back(5);
    y.insert(y.end(), {NAN, NAN});
    cn::model<line, cn::policy::cpu, cn::batch<8>> model{cn::seed{1}};
    auto training = cn::compile(model, known_mse{}, cn::adam{.learning_rate = 0.1});
    cn::data::dataset<cn::shape<2>, cn::shape<1>> const data{x, y};
    training.fit(data, {.epochs = 60, .verbose = cn::verbosity::silent});
    auto const found = model.predict({0.5F});
    CHECK(found[0] == doctest::Approx(0.5).epsilon(0.02));
    CHECK(found[1] == doctest::Approx(1.0).epsilon(0.02));
}

TEST_CASE("gradients by inputs of the guide") {
    cn::model<scores_network, cn::policy::basic_cpu<double>, cn::batch<1>> scores{cn::seed{1}};
    cn::model<saliency_network, cn::policy::basic_cpu<double>, cn::batch<1>> slopes{cn::seed{2}};
    for (std::size_t i = 0; i < scores.parameter_tensors(); ++i) {
        auto const name = scores.parameter_at(i).name.text();
        slopes.set(name, scores.get(name));
    }
    auto const largest = [&](double a, double b) {
        std::vector<double> const y = scores.predict(std::vector{a, b});
        return *std::max_element(y.begin(), y.end());
    };
    std::vector<double> const slope = slopes.predict(std::vector{0.3, -0.8});
    CHECK(slope[0] == doctest::Approx((largest(0.301, -0.8) - largest(0.299, -0.8)) / 0.002));
    CHECK(slope[1] == doctest::Approx((largest(0.3, -0.799) - largest(0.3, -0.801)) / 0.002));

    std::size_t const count = 32;
    std::vector<double> real, fake, share;
    for (std::size_t i = 0; i < count; ++i) {
        double const t = double(i);
        real.insert(real.end(), {1 + std::cos(t), 1 + std::sin(t)});
        fake.insert(fake.end(), {std::sin(3 * t), std::cos(5 * t)});
        share.push_back(t / double(count));
    }
    cn::data::dataset<cn::data::targets<>, cn::shape<2>, cn::shape<2>, cn::shape<1>> const data{
        real, fake, share};
    cn::model<critic_network, cn::policy::cpu, cn::batch<count>> critic{cn::seed{3}};
    auto training = cn::compile(critic, critic_loss{}, cn::adam{.learning_rate = 1e-2});
    training.fit(data, {.epochs = 300, .verbose = cn::verbosity::silent});
    double steepness = 0;
    for (double const p : critic.predict<2>(data)) {
        steepness += p / double(count);
    }
    CHECK(steepness < 0.1);                       // slopes near 1
    CHECK(training.evaluate(data).loss() < -0.3); // and real ones above fake ones
}

TEST_CASE("two networks of the guide train against each other") {
    std::uint64_t const steps = 400;
    cn::tensor const real = 0.1 * cn::random_normal<float, cn::shape<64, 2>>(1'000) + 2;

    // [adversarial]
    cn::model<adversarial_network, cn::policy::cpu, cn::batch<64>> model{cn::seed{1}};
    cn::adam const adam{.learning_rate = 2e-3, .beta_1 = 0.5};
    auto discriminator = cn::compile(model, discriminator_loss{}, adam);
    auto generator = cn::compile(model, generator_loss{}, adam);
    discriminator.freeze("generator.*");
    generator.freeze("discriminator.*");
    for (std::uint64_t step = 0; step < steps; ++step) {
        auto const z = cn::random_normal<float, cn::shape<64, 4>>(step);
        auto const data = cn::data::of_tensors<cn::data::targets<>>(real, z);
        discriminator.step(data);
        generator.step(data);
    }
    // [/adversarial]

    auto const noise = cn::random_normal<float, cn::shape<64, 4>>(steps);
    auto const made = cn::mean<0>(model.predict<2>(real, noise));
    CHECK(made[0] == doctest::Approx(2).epsilon(0.2));
    CHECK(made[1] == doctest::Approx(2).epsilon(0.2));
}

namespace {

// [always]
template <auto Drop>
using with_dropout = cn::sequential<cn::input<2>, cn::dense<32>, cn::tanh, Drop, cn::dense<1>>;
using trained_network = with_dropout<cn::dropout<0.2>>;
using sampled_network = with_dropout<cn::dropout<0.2>.always()>; // has the same parameters
// [/always]

} // namespace

TEST_CASE("Monte Carlo dropout") {
    cn::data::dataset<cn::shape<1>, cn::shape<2>> const data{
        std::vector<float>{0, 0, 1, 0, 0, 1, 1, 1}, std::vector<float>{0, 1, 1, 0}};
    cn::model<trained_network, cn::policy::cpu, cn::batch<16>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::mse, cn::adam{.learning_rate = 0.02});
    training.fit(data, {.epochs = 200, .verbose = cn::verbosity::silent});
    // [monte_carlo]
    cn::model<sampled_network, cn::policy::cpu, cn::batch<16>> sampling;
    cn::copy_parameters(model, sampling);
    std::size_t const n = data.size(), copies = 100;
    std::vector<float> const all = sampling.predict(cn::data::repeat(data, copies));
    std::vector<double> mean(n), variance(n); // of the predictions of each sample
    for (std::size_t i = 0; i < all.size(); ++i) {
        mean[i % n] += double(all[i]) / copies;
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        variance[i % n] += std::pow(double(all[i]) - mean[i % n], 2) / copies;
    }
    // [/monte_carlo]
    std::vector<float> const expected = model.predict(data);
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(std::abs(mean[i] - double(expected[i])) < 0.2);
        CHECK(variance[i] > 1e-4);
    }
}

namespace {

// [member]
class pricing {
public:
    double learn(cn::data::dataset<cn::shape<1>, cn::shape<2>> const& sales) {
        return training_.fit(sales, {.verbose = cn::verbosity::silent})["loss"].back();
    }
    float price(std::array<float, 2> facts) {
        std::array<float, 1> found{};
        predictor_.predict_one(facts, found);
        return found[0];
    }

private:
    using model = cn::model<trained_network, cn::policy::cpu, cn::batch<16>>;

    model model_{cn::seed{1}}; // before those that refer to it
    decltype(cn::compile(model_, cn::mse, cn::adam{})) training_ =
        cn::compile(model_, cn::mse, cn::adam{.learning_rate = 1e-2});
    cn::predictor<model> predictor_{model_};
};
// [/member]

} // namespace

TEST_CASE("a training is a member of a class") {
    pricing prices;
    float const before = prices.price({1, 2});
    cn::data::dataset<cn::shape<1>, cn::shape<2>> const sales{std::vector<float>{1, 2},
                                                              std::vector<float>{3}};
    CHECK(std::isfinite(prices.learn(sales)));
    CHECK(prices.price({1, 2}) != before);
}

namespace {

// [pairs]
template <class Views, std::size_t Pairs>
struct batches_of_pairs : cn::data::adaptor<Views> { // each a sample: two views of some images
    using cn::data::adaptor<Views>::adaptor;
    using target_type = cn::data::targets<>;
    template <std::size_t>
    using input_shape = cn::shape<1, Pairs, 8, 12>; // with the images in the place of the depth
    static constexpr std::size_t input_count = 2;

    std::size_t size() const { return this->base().size() / 2 / Pairs; }
    template <std::size_t I, class T>
    void copy_input(std::size_t sample, T* out) const {
        auto const first = I * this->base().size() / 2 + sample * Pairs;
        for (std::size_t k = 0; k < Pairs; ++k) {
            this->base().template copy_input<0>(first + k, out + k * 8 * 12);
        }
    }
};
// [/pairs]

// [contrast]
struct contrast { // SimCLR: the score of each view beside each other one
    static constexpr cn::conv3 halves{.stride = cn::size3{1, 2, 2}, .padding = cn::size3{0, 1, 1}};
    static constexpr auto encoder =
        cn::shared<"encoder", cn::block<cn::conv3d<8, cn::size3{1, 3, 3}, halves>, cn::relu,
                                        cn::conv3d<16, cn::size3{1, 3, 3}, halves>, cn::relu>>;
    static constexpr auto head = cn::shared<"head", cn::dense<8>>;

    static constexpr auto unit_rows(auto images) {
        auto const h = cn::transpose(cn::mean<2, 3>(encoder(images))) | head; // images, features
        return h / cn::norm<1>(h, cn::keepdims);
    }
    constexpr auto operator()(auto left, auto right) const {
        auto const a = unit_rows(left), b = unit_rows(right);
        return cn::matmul_transposed(a, b) / 0.2;
    }
};
struct info_nce {
    static constexpr char const* name = "info_nce";
    using targets = cn::data::targets<>;
    constexpr auto operator()(auto scores) const { // the diagonal's are those of one image
        return -cn::mean(cn::diagonal(cn::log_softmax(scores)));
    }
};
using contrast_network = cn::network<contrast{}, cn::input<1, 16, 8, 12>, cn::input<1, 16, 8, 12>>;
// [/contrast]

} // namespace

TEST_CASE("views of the same image become more alike than those of others") {
    // [views]
    auto const images = cn::data::epochs_of(ramps{}, 96); // in another order in each epoch
    auto views = cn::data::augment(cn::data::repeat(images, 2), cn::data::random_flip{},
                                   cn::data::random_resized_crop{});
    batches_of_pairs<decltype(views), 16> const batches{views};

    cn::model<contrast_network, cn::policy::cpu, cn::batch<1>> model{cn::seed{1}};
    auto training = cn::compile(model, info_nce{}, cn::adam{.learning_rate = 1e-2});
    auto const history = training.fit(batches, {.epochs = 20, .verbose = cn::verbosity::silent});
    // [/views]
    CHECK(history["loss"].back() < history["loss"].front() - 0.1);
    std::vector<float> first(96), second(96);
    auto const view = [&](std::size_t sample, std::vector<float>& to) {
        views.copy_input<0>(sample, to.data());
    };
    view(0, first);
    view(96, second);
    CHECK(first != second); // of one image
    batches.begin_epoch({.number = 1});
    view(0, second);
    CHECK(first != second); // of another one
    batches.end_epoch();
}

namespace {

// [parts]
using encoder_network = cn::sequential<cn::input<16>, cn::dense<32>, cn::relu, cn::dense<4>>;
using decoder_network = cn::sequential<cn::input<4>, cn::dense<32>, cn::relu, cn::dense<16>>;
using autoencoder = cn::sequential<cn::input<16>, cn::named<"encoder", encoder_network{}>,
                                   cn::named<"decoder", decoder_network{}>>;
// [/parts]

} // namespace

TEST_CASE("the parts of an autoencoder predict by themselves") {
    cn::model<autoencoder, cn::policy::cpu, cn::batch<8>> model{cn::seed{1}};
    std::vector<float> const x(16, 0.5F);
    // [part]
    cn::model<encoder_network, cn::policy::cpu, cn::batch<1>> encoder;
    cn::model<decoder_network, cn::policy::cpu, cn::batch<1>> decoder;
    cn::copy_parameters(model, encoder, cn::partial{.rename = cn::replace_prefix{"", "encoder."}});
    cn::copy_parameters(model, decoder, cn::partial{.rename = cn::replace_prefix{"", "decoder."}});
    std::vector<float> const code = encoder.predict(x), again = decoder.predict(code);
    // [/part]
    std::vector<float> const expected = model.predict(x);
    for (std::size_t i = 0; i < 16; ++i) {
        CHECK(std::abs(again[i] - expected[i]) < 1e-5F);
    }
}
