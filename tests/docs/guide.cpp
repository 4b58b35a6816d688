// The programs of README.md and docs/guide.md, between "// [name]" and "// [/name]";
// check_snippets.sh compares.
#include <castnet/castnet.hpp>
#include <castnet/train/report.hpp>

#include "../temporary_path.hpp"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>
#include <future>
#include <memory>

// clang-format off
// [sequential]
namespace cn = castnet;

using images = cn::sequential<
    cn::input<3, 32, 32>,
    cn::conv2d<32, 3, cn::conv{.padding = cn::same}>.init(cn::he_normal), cn::relu,
    cn::conv2d<64, 3, cn::conv{.stride = 2, .padding = 1}>.no_bias(), cn::batch_norm, cn::relu,
    cn::global_avg_pool2d,
    cn::dropout<0.2>,
    cn::dense<10>.l2(1e-4)>;
// [/sequential]

// [blocks]
template <std::size_t Filters>
inline constexpr auto conv_norm = cn::block<
    cn::conv2d<Filters, 3, cn::conv{.padding = 1}>.no_bias(), cn::batch_norm>;

template <std::size_t Filters>
inline constexpr auto unit = cn::block<
    cn::residual<conv_norm<Filters>, cn::relu, conv_norm<Filters>>, cn::relu>;

using deep = cn::sequential<
    cn::input<3, 32, 32>, conv_norm<16>, cn::relu, unit<16>, unit<16>,
    cn::global_avg_pool2d, cn::dense<10>>;
// [/blocks]

// [repeated]
using deeper = cn::sequential<
    cn::input<3, 32, 32>, conv_norm<16>, cn::relu, cn::repeat<18, unit<16>>,
    cn::global_avg_pool2d, cn::dense<10>>;
// [/repeated]
static_assert(deeper::parameter_count == deep::parameter_count + 16 * (2 * 9 * 256 + 2 * 32));
// clang-format on

// [functional]
struct price {
    constexpr auto operator()(auto photo, auto facts) const {
        auto const seen = photo | cn::conv2d<8, 3> | cn::relu | cn::global_avg_pool2d;
        auto const read = facts | cn::dense<16> | cn::relu;
        return cn::concat(seen, read) | cn::dense<1>;
    }
};
using price_network = cn::network<price{}, cn::input<3, 32, 32>, cn::input<12>>;
// [/functional]

// [shared]
struct twins {
    static constexpr auto encoder = cn::shared<"encoder", cn::block<cn::dense<16>, cn::tanh>>;

    constexpr auto operator()(auto left, auto right) const {
        return cn::square(encoder(left) - encoder(right)) | cn::named<"head", cn::dense<1>>;
    }
};
using twin_network = cn::network<twins{}, cn::input<8>, cn::input<8>>;
// [/shared]

// clang-format off
// [devices]
struct placed_twins {
    constexpr auto operator()(auto left, auto right) const {
        auto const a = left | cn::on<0, twins::encoder>;
        auto const b = right | cn::on<1, twins::encoder>; // at the same time, with the same weights
        return cn::concat(a, b) | cn::on<2, cn::dense<16>, cn::relu, cn::dense<1>>;
    }
};
using on_three = cn::network<placed_twins{}, cn::input<8>, cn::input<8>>;
// [/devices]
// clang-format on

// [outputs]
struct detector {
    constexpr auto operator()(auto photo) const {
        auto const seen = photo | cn::conv2d<8, 3> | cn::relu | cn::global_avg_pool2d;
        return cn::outputs<"kind", "box">(seen | cn::named<"kind", cn::dense<3>>,
                                          seen | cn::named<"box", cn::dense<4>>);
    }
};
using detection = cn::network<detector{}, cn::input<1, 12, 12>>;
// [/outputs]

// [attention]
struct translation {
    static constexpr cn::transformer options{.feed_forward = 64, .norm_first = true};

    constexpr auto operator()(auto from, auto lengths, auto to) const {
        auto const memory = cn::transformer_encoder_layer<4, options, cn::gelu>(
            from | cn::sinusoidal_positions, cn::length_mask(lengths));
        auto const told =
            cn::multi_head_attention<4>(to | cn::sinusoidal_positions, cn::causal_mask);
        return cn::multi_head_attention<4>(told, memory, cn::length_mask(lengths)) | cn::layer_norm;
    }
};
using translation_network =
    cn::network<translation{}, cn::input<12, 32>, cn::input<1>, cn::input<9, 32>>;
// [/attention]

// [alibi]
struct alibi { // scores fall with the distance, in each head at another rate (Press et al. 2022)
    template <cn::Shape S> // heads, queries, keys
    constexpr auto operator()(cn::symbol<S> scores) const {
        constexpr std::size_t heads = S::extent[0];
        using of_heads = cn::shape<heads, S::count / heads>; // a row for each
        auto& g = *scores.g;
        auto const distance = cn::abs(cn::row_index<S>(g) - cn::channel_index<S>(g));
        auto const slope = cn::pow(0.5, 8.0 / heads * (cn::row_index<of_heads>(g) + 1));
        return scores - cn::reshape_to<S>(slope * cn::reshape_to<of_heads>(distance));
    }
};
// [/alibi]
struct scores_of_alibi {
    constexpr auto operator()(auto x) const {
        return alibi{}(cn::reshape_to<cn::row_major_shape<2, 1, 3>>(x)) | cn::flatten;
    }
};

// [frozen]
using tuned = cn::sequential<cn::input<3, 32, 32>,
                             cn::frozen<conv_norm<16>, cn::relu, unit<16>>, // keeps its values
                             cn::global_avg_pool2d, cn::dense<5>>;          // is trained
// [/frozen]

// [function]
struct swish {
    constexpr auto operator()(auto x) const { return x * cn::sigmoid(x); }
};
using with_swish = cn::sequential<cn::input<2>, cn::dense<16>, swish{}, cn::dense<3>>;
// [/function]

// [layer]
struct scale_layer {
    static constexpr char const* name = "scale"; // in summaries

    template <std::size_t N>
    constexpr auto operator()(cn::symbol<cn::shape<N>> x) const {
        cn::scope_guard const scope{*x.g, cn::layer_kind{"scale"}};
        return x * cn::new_parameter<cn::shape<N>>(*x.g, "weight", {.start = cn::ones});
    }
};
inline constexpr scale_layer scale{};

using scaled = cn::sequential<cn::input<4>, scale, cn::dense<1>>;
// [/layer]

// [targets]
struct objects_only {
    static constexpr char const* name = "objects_only";
    using targets = cn::data::targets<cn::data::label<3>, cn::shape<4>>;

    constexpr auto operator()(auto kind, auto box, auto label, auto corners) const {
        auto const object = cn::greater(label, 0); // 1, or 0 for kind 0, the background
        return cn::cross_entropy(kind, label) + object * cn::mse(box, corners);
    }
};
// [/targets]

// [loss]
struct cauchy_loss {
    static constexpr char const* name = "cauchy"; // in checkpoints
    static constexpr bool labels = false;         // the target has the prediction's shape

    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> prediction, cn::symbol<S> target) const {
        return cn::mean(cn::log1p(cn::square(prediction - target)));
    }
};
inline constexpr cauchy_loss cauchy{};
// [/loss]

// [scalar]
struct pinball_loss {
    static constexpr char const* name = "pinball";
    static constexpr bool labels = false;
    cn::scalar quantile = 0.5;

    constexpr auto operator()(auto prediction, auto target) const {
        auto const error = target - prediction;
        return cn::mean(cn::maximum(quantile * error, (quantile - 1) * error));
    }
};
// [/scalar]

// [metric]
struct correlation_metric { // of a network with one output, with its target
    static constexpr char const* name = "correlation";
    static constexpr bool labels = false;

    constexpr auto operator()(auto prediction, auto target) const {
        auto const x = cn::sum(prediction), y = cn::sum(target); // which are one number each
        return cn::stack(x, y, x * x, y * y, x * y);
    }
    double result(std::span<double const> sums, double weight) const {
        double const x = sums[0] / weight, y = sums[1] / weight; // means
        return (sums[4] / weight - x * y) /
               std::sqrt((sums[2] / weight - x * x) * (sums[3] / weight - y * y));
    }
};
// [/metric]

namespace {

// [callback]
struct budget {
    double seconds;
    double spent = 0;
    void end_step(cn::step_report& report) {
        spent += report.seconds;
        report.stop = report.stop || spent > seconds; // after this step
    }
};
// [/callback]

// The points of docs/guide.md: in the unit square, with the class of their quadrant.
auto four_corners(std::size_t count) {
    // [data]
    std::vector<float> points;
    std::vector<int> labels;
    for (std::size_t i = 0; i < count; ++i) {
        float const x = float(i * 37 % 101) / 101, y = float(i * 61 % 97) / 97;
        points.insert(points.end(), {x, y});
        labels.push_back((x > 0.5F) + 2 * (y > 0.5F));
    }
    cn::data::dataset<cn::data::label<4>, cn::shape<2>> data{points, labels};
    auto [train, test] = data.split(0.8);
    // [/data]
    return std::pair{train, test};
}

using points = cn::sequential<cn::input<2>, cn::dense<32>, swish{}, cn::dense<4>>;

} // namespace

TEST_CASE("networks of the guide") {
    CHECK(images::parameter_count == 3 * 32 * 9 + 32 + 32 * 64 * 9 + 2 * 64 + 64 * 10 + 10);
    CHECK(deep::parameter_count == 3 * 16 * 9 + 4 * 16 * 16 * 9 + 5 * 2 * 16 + 16 * 10 + 10);
    CHECK(price_network::parameter_count == 3 * 8 * 9 + 8 + 12 * 16 + 16 + 24 + 1);
    CHECK(twin_network::parameter_count == 8 * 16 + 16 + 16 + 1);
    CHECK(translation_network::parameter_count == 17'056);
    cn::model<cn::sequential<cn::input<6>, scores_of_alibi{}>, cn::policy::cpu, cn::batch<1>>
        biases;
    CHECK(biases.predict(std::vector<float>(6))[2] == doctest::Approx(-2 / 16.0));
    CHECK(on_three::parameter_count == 8 * 16 + 16 + 32 * 16 + 16 + 16 + 1);
    CHECK(with_swish::parameter_count == 99);
    CHECK(scaled::parameter_count == 4 + 4 + 1);
    cn::model<tuned, cn::policy::cpu, cn::batch<2>> model;
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
    training.step(cn::data::dataset<cn::data::label<5>, cn::shape<3, 32, 32>>{
        std::vector<float>(3 * 32 * 32), std::vector<int>{0}});
    CHECK(training.gradient("0.0.weight").empty());
    CHECK_THROWS_AS(training.gradient("0.weight"), cn::error); // there is none
    CHECK(training.gradient("4.weight").size() == 5 * 16);
}

TEST_CASE("several outputs of the guide") {
    using images_of = cn::data::dataset<cn::data::label<3>, cn::shape<1, 12, 12>>;
    images_of const data{std::vector<float>(2 * 144, 0.5F), std::vector<int>{0, 2}};
    cn::model<detection, cn::policy::cpu, cn::batch<16>> model;
    model.set("kind.bias", std::vector<float>{1, 2, 3});
    model.set("box.bias", std::vector<float>{4, 5, 6, 7});
    for (char const* weight : {"kind.weight", "box.weight"}) {
        model.set(weight, std::vector<float>(model.get(weight).size(), 0.0F));
    }
    // [predict]
    std::vector<float> kinds = model.predict(data);
    std::vector<float> boxes = model.predict<1>(data);
    // [/predict]
    CHECK(kinds == std::vector<float>{1, 2, 3, 1, 2, 3});
    CHECK(boxes == std::vector<float>{4, 5, 6, 7, 4, 5, 6, 7});
}

TEST_CASE("training of several outputs of the guide") {
    std::vector<float> photos, boxes;
    std::vector<int> kinds;
    for (int i = 0; i < 48; ++i) { // squares, the larger the brighter
        int const kind = i * 7 % 3, size = 3 * kind + 2, x = i % (12 - size),
                  y = i * 5 % (12 - size);
        kinds.push_back(kind);
        boxes.insert(boxes.end(), {0, 0, float(size) / 12, float(size) / 12});
        for (int pixel = 0; pixel < 144; ++pixel) {
            bool const inside = pixel % 12 - x >= 0 && pixel % 12 - x < size &&
                                pixel / 12 - y >= 0 && pixel / 12 - y < size;
            photos.push_back(inside ? 0.2F + 0.4F * float(kind) : 0.0F);
        }
    }
    // [detection]
    using scenes = cn::data::dataset<cn::data::targets<cn::data::label<3>, cn::shape<4>>,
                                     cn::shape<1, 12, 12>>;
    scenes data{photos, kinds, boxes};

    cn::model<detection, cn::policy::cpu, cn::batch<16>> model{cn::seed{1}};
    auto training =
        cn::compile(model, cn::losses<cn::cross_entropy, cn::loss_weight<0.5, cn::mse>>,
                    cn::adam{.learning_rate = 0.02}, cn::accuracy, cn::on_output<1, cn::mae>);
    auto history = training.fit(data, {.epochs = 60, .verbose = cn::verbosity::silent});
    double const best = history.highest("accuracy").value;
    double const mae = history["box_mae"].back();
    // [/detection]
    CHECK(best > 0.9);
    CHECK(mae < 0.1);
    CHECK(history["loss"].back() ==
          doctest::Approx(history["kind_loss"].back() + 0.5 * history["box_loss"].back()));
    auto const apart = training.evaluate(data);
    double const all = cn::compile(model, objects_only{}, cn::adam{}).evaluate(data).loss();
    CHECK(all > apart["kind_loss"]);
    CHECK(all < apart["kind_loss"] + apart["box_loss"]);
}

TEST_CASE("data of the guide") {
    std::vector<unsigned char> const pictures(8 * 784, 51);
    std::vector<double> const facts(8 * 3, 0.5);
    std::vector<float> const prices{0, 1, 2, 3, 4, 5, 6, 7};
    // [columns]
    // Two inputs, a picture and three numbers; the target is one number.
    cn::data::dataset<cn::shape<1>, cn::shape<1, 28, 28>, cn::shape<3>> homes{
        cn::data::column{pictures, 1.0 / 255}, facts, prices};
    // [/columns]
    // [subsets]
    auto few = homes.take(2);  // the first two
    auto rest = homes.skip(2); // the others
    std::vector<std::size_t> order(homes.size());
    cn::data::shuffle(order, 7, 0); // by seed and epoch
    auto [most, last] = homes.subset(order).split(0.75);
    // [/subsets]
    float pixels[784], target = 0;
    few.copy_input(0, pixels);
    CHECK(pixels[783] == doctest::Approx(0.2));
    rest.copy_target(0, &target);
    CHECK(target == 2);
    last.copy_target(1, &target);
    CHECK(target == float(order[7]));
    CHECK(most.size() == 6);
}

TEST_CASE("training of the guide") {
    auto const [train, test] = four_corners(600);
    // [fit]
    cn::model<points, cn::policy::cpu, cn::batch<32>> model{cn::seed{1}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{.learning_rate = 1e-2},
                                cn::accuracy, cn::top_k<2>);
    auto history = training.fit(train, {.epochs = 40,
                                        .schedule = cn::warm_up(20, cn::cosine_decay(2e-2)),
                                        .validation = test,
                                        .class_weight = {1, 1, 1, 2},
                                        .verbose = cn::verbosity::silent});
    double const best = history["val_accuracy"].back();
    double const loss = training.evaluate(test).loss();
    std::vector<float> logits = model.predict(test); // 4 numbers for each sample
    // [/fit]
    CHECK(best > 0.9);
    CHECK(loss < 0.4);
    CHECK(logits.size() == 4 * test.size());

    // [stop]
    training.fit(train, {.epochs = 100,
                         .validation = test,
                         .verbose = cn::verbosity::silent,
                         .on_epoch_end = [](cn::epoch_report& report) {
                             auto const best = report.history.lowest("val_loss");
                             report.stop = report.epoch - best.epoch >= 3;
                         }});
    // [/stop]
    CHECK(training.evaluate(test).loss() < 0.4);

    check::temporary_path const place{"guide"};
    std::filesystem::path const folder = place.name;
    std::filesystem::create_directories(folder);
    auto const page_file = (folder / "page.html").string();
    // [report]
    cn::report page{"Four points"};
    page.add(history);
    page.add_summary(model);
    page.add_memory(training);
    page.add(cn::profile(training, train, std::vector<std::size_t>{0, 1, 2, 3}));
    page.add_worst(model, test, 10, {"red", "green", "blue", "black"});
    page.save(page_file);
    // [/report]
    CHECK(std::filesystem::file_size(page_file) > 1000);

    auto const best_file = (folder / "best.safetensors").string(),
               history_file = (folder / "history.csv").string();
    // [callbacks]
    cn::step_times times;
    training.fit(train, {.epochs = 40,
                         .validation = test,
                         .verbose = cn::verbosity::silent,
                         .callbacks = {cn::early_stopping{.monitor = "val_loss", .patience = 5},
                                       cn::reduce_on_plateau{.factor = 0.5, .patience = 2},
                                       cn::save_best{model, best_file, {.restore = true}},
                                       cn::csv_log{history_file}, cn::stop_on_signal{}, times}});
    double const rate = times.samples_per_second();
    // [/callbacks]
    CHECK(rate > 0);
    CHECK(training.evaluate(test).loss() < 0.4);
    training.fit(train, {.verbose = cn::verbosity::silent, .callbacks = {budget{.seconds = 0}}});

    auto const file = (folder / "points.safetensors").string();
    // [save]
    cn::save(model, file);

    cn::model<points, cn::policy::cpu, cn::batch<1>> served;
    cn::load(served, file);
    float const point[] = {0.9F, 0.1F};
    float scores[4];
    served.predict_one(point, scores);
    // [/save]
    // [numbers]
    std::vector<float> const two = {0.9F, 0.1F, 0.2F, 0.8F}; // samples, one after the other
    std::vector<float> found = model.predict(two);           // 4 numbers for each
    // [/numbers]
    CHECK(found.size() == 8);
    // [threads]
    auto const serve = [&model, &test] { return model.predict(test); };
    auto first = std::async(std::launch::async, serve);
    auto second = std::async(std::launch::async, serve);
    CHECK(first.get() == second.get());

    cn::predictor mine{model}; // memory of its own, for the thread that has it
    mine.predict_one(point, scores);
    // [/threads]
    // [served]
    using served_model = cn::model<points, cn::policy::cpu, cn::batch<1>>;
    std::atomic<std::shared_ptr<served_model const>> current; // current.load()->predict_one(…)
    training.fit(
        train,
        {.epochs = 2, .verbose = cn::verbosity::silent, .on_epoch_end = [&](cn::epoch_report&) {
             auto next = std::make_shared<served_model>();
             cn::copy_parameters(model, *next);
             current.store(next);
         }});
    // [/served]
    current.load()->predict_one(point, scores);
    CHECK(std::isfinite(scores[0]));
    // [parameters]
    for (std::size_t i = 0; i < model.parameter_tensors(); ++i) {
        auto const& p = model.parameter_at(i);
        std::printf("%s: %d numbers\n", p.name.text().c_str(), p.count());
    }
    std::vector<float> bias = model.get("2.bias");
    bias[3] += 0.5F;
    model.set("2.bias", bias);
    // [/parameters]
    // [partial]
    using other = cn::sequential<cn::input<2>, cn::named<"body", cn::block<cn::dense<32>, swish{}>>,
                                 cn::named<"head", cn::dense<2>>>;
    cn::model<other, cn::policy::cpu, cn::batch<32>> tuned;
    auto report = cn::load(tuned, file, cn::partial{.rename = cn::replace_prefix{"body.", ""}});
    // report.loaded: body.0.weight, body.0.bias
    // report.missing: head.weight, head.bias
    // report.unexpected: 2.bias, 2.weight
    // [/partial]
    CHECK(report.loaded == std::vector<std::string>{"body.0.weight", "body.0.bias"});
    CHECK(report.missing == std::vector<std::string>{"head.weight", "head.bias"});
    CHECK(report.unexpected == std::vector<std::string>{"2.bias", "2.weight"});
    auto const checkpoint = (folder / "run.safetensors").string();
    training.fit(train, {.epochs = 1,
                         .verbose = cn::verbosity::silent,
                         .checkpoint = cn::checkpoint(training, checkpoint)});
    // [checkpoint]
    if (std::filesystem::exists(checkpoint)) {
        cn::load(training, checkpoint);
    }
    training.fit(train, {.epochs = 2,
                         .verbose = cn::verbosity::silent,
                         .checkpoint = cn::checkpoint(training, checkpoint, 100)});
    // [/checkpoint]
    CHECK(std::max_element(scores, scores + 4) - scores == 1);
}

TEST_CASE("a training loop of the guide") {
    auto const [train, test] = four_corners(600);
    cn::model<points, cn::policy::cpu, cn::batch<32>> model;
    // [loop]
    auto training = cn::compile(model, cn::cross_entropy, cn::momentum{}, cn::accuracy);
    std::vector<std::size_t> order(train.size());
    for (std::size_t epoch = 0; epoch < 20; ++epoch) {
        cn::data::shuffle(order, 7, epoch); // a function of seed and epoch alone
        for (std::size_t first = 0; first < order.size(); first += 32) {
            auto const count = std::min<std::size_t>(32, order.size() - first);
            auto scores = training.step(train, std::span{order}.subspan(first, count), 0.1);
            CHECK(scores.weight == count);
        }
    }
    // [/loop]
    CHECK(training.evaluate(test)["accuracy"] > 0.85);
}

TEST_CASE("sample weights and a loss of the guide") {
    float const slopes[] = {1, -2, 0.5F, 3};
    auto const data = cn::data::linear<4>(256, 3, slopes);
    cn::model<scaled, cn::policy::cpu, cn::batch<32>> model;
    // [weights]
    std::vector<float> weights(data.size(), 1);
    weights[0] = 3; // counts as three samples
    weights[1] = 0; // does not count at all
    auto training = cn::compile(model, cauchy, cn::adam{.learning_rate = 1e-2}, cn::mae);
    training.fit(data.with_weights(weights), {.epochs = 60, .verbose = cn::verbosity::silent});
    // [/weights]
    CHECK(training.evaluate(data)["mae"] < 0.05);

    // [groups]
    auto grouped = cn::compile(model, cauchy,
                               cn::groups(cn::adamw{.learning_rate = 1e-3},
                                          cn::parameter_group{.names = "*.bias", .decay = 0},
                                          cn::parameter_group{.names = "0.*", .rate = 10}));
    // [/groups]
    CHECK(grouped.optimizer().group_of("0.weight") == 1);

    // [muon]
    auto orthogonal = cn::compile(
        model, cauchy,
        cn::groups(cn::muon{.learning_rate = 0.02, .adamw_rate = 0.05},
                   cn::parameter_group{.names = "1.*", .orthogonal = false})); // the last layer
    // [/muon]
    CHECK(orthogonal.optimizer().slots == 2);

    // [freeze]
    training.freeze("0.*"); // the first layer
    training.fit(data, {.epochs = 5, .verbose = cn::verbosity::silent});
    training.unfreeze("*");
    training.fit(data, {.epochs = 5, .verbose = cn::verbosity::silent});
    // [/freeze]
    CHECK(training.frozen().empty());

    check::temporary_path const one{"first_stage"}, two{"second_stage"};
    std::string const &first = one.name, &second = two.name;
    // [stages]
    if (std::filesystem::exists(second)) {
        cn::load(training, second);
    } else {
        if (std::filesystem::exists(first)) {
            cn::load(training, first);
        }
        training.freeze("0.*");
        training.fit(data, {.epochs = 5,
                            .verbose = cn::verbosity::silent,
                            .checkpoint = cn::checkpoint(training, first)});
        training.unfreeze("*");
    }
    training.fit(data, {.epochs = 5,
                        .verbose = cn::verbosity::silent,
                        .checkpoint = cn::checkpoint(training, second)});
    // [/stages]
    CHECK(std::filesystem::exists(second));

    // [clip]
    auto clipped =
        cn::compile(model, cauchy, cn::clip_norm(cn::adam{.learning_rate = 1e-2}, 1), cn::mae);
    // [/clip]
    clipped.fit(data, {.epochs = 10, .verbose = cn::verbosity::silent});
    CHECK(clipped.evaluate(data)["mae"] < 0.05);

    // [accumulate]
    auto by_fours = cn::compile(model, cauchy, cn::accumulate<4>(cn::adam{.learning_rate = 1e-2}));
    // [/accumulate]
    CHECK(by_fours.step_capacity() == 128);

    double error = 1;
    check::temporary_path const averages{"guide_averaged.safetensors"};
    std::string const& averaged_file = averages.name;
    // [averages]
    auto averaging =
        cn::compile(model, cauchy, cn::ema(cn::adam{.learning_rate = 1e-2}, 0.99), cn::mae);
    averaging.fit(data, {.epochs = 10, .verbose = cn::verbosity::silent});
    {
        cn::averaged_weights const now{averaging}; // or in on_epoch_end
        error = averaging.evaluate(data)["mae"];
        cn::save(model, averaged_file);
    } // the weights are back
    // [/averages]
    CHECK(error < 0.05);
}

TEST_CASE("a loss and a metric of the guide with numbers and sums of their own") {
    float const slopes[] = {1, -2, 0.5F, 3};
    auto const data = cn::data::linear<4>(256, 3, slopes);
    // [quantiles]
    for (double const quantile : {0.1, 0.9}) {
        cn::model<scaled, cn::policy::cpu, cn::batch<32>> model;
        auto training = cn::compile(model, pinball_loss{.quantile = quantile}, cn::adam{});
        training.fit(data, {.epochs = 60, .verbose = cn::verbosity::silent});
    }
    // [/quantiles]
    cn::model<scaled, cn::policy::cpu, cn::batch<32>> model;
    auto training = cn::compile(model, cn::mse, cn::adam{.learning_rate = 1e-2},
                                correlation_metric{}, cn::rmse, cn::r2);
    training.fit(data, {.epochs = 60, .verbose = cn::verbosity::silent});
    auto const scores = training.evaluate(data);
    CHECK(scores["correlation"] > 0.99);
    CHECK(scores["r2"] > 0.95);
}

TEST_CASE("memory of the guide") {
    // [memory]
    using namespace castnet::literals;
    using place = cn::policy::memory_limit<cn::policy::cpu, 4_MiB>; // checked while compiling
    using model = cn::model<images, place, cn::batch<1>>;
    static_assert(model::parameter_bytes + model::prediction_bytes + model::prepared_bytes < 2_MiB);
    // [/memory]
    CHECK(model{}.parameter_tensors() > 0);
}

// The program of the README, which is compiled only; readme.sh runs it.
#pragma GCC diagnostic ignored "-Wreturn-type" // only a program's main may end without return

namespace first_screen {

// clang-format off
// [program]
#include <castnet/castnet.hpp>
#include <cstdio>
namespace cn = castnet;

using zalando = cn::sequential<                        // a network is a type
    cn::input<1, 28, 28>,                              // one sample: channels, height, width
    cn::conv2d<32, 3>, cn::relu, cn::max_pool2d<2>,
    cn::conv2d<64, 3>, cn::relu, cn::max_pool2d<2>,
    cn::conv2d<64, 3>, cn::relu,
    cn::flatten, cn::dense<64>, cn::relu, cn::dense<10>>;

static_assert(zalando::parameter_count == 93'322);     // known before the program runs

using where = cn::policy::cpu;                         // or policy::mirrored<…>, policy::cuda

int main(int count, char** values) try {
    auto folder = count > 1 ? values[1] : "/usr/share/datasets/fashion-mnist";
    auto data = cn::data::fashion_mnist(folder);
    cn::model<zalando, where, cn::batch<128>> model{cn::seed{42}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    training.fit(data.train, {.epochs = 5, .schedule = cn::one_cycle(4e-3), .validation = data.test});
    cn::save(model, "zalando.safetensors");
} catch (cn::error const& wrong) {                     // a missing file, say
    std::fprintf(stderr, "%s\n", wrong.what());
    return 1;
}
// [/program]
// clang-format on

} // namespace first_screen
