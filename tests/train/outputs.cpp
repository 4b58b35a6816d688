// Networks with several outputs: predicted one by one, trained by a loss for each of them or by one
// that sees them all.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../parameters.hpp"
#include "../temporary_path.hpp"
#include "policy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <span>
#include <string>
#include <vector>

namespace cn = castnet;

namespace {

// A class and a reconstruction from one code.
struct two_heads {
    constexpr auto operator()(auto x) const {
        auto const code = x | cn::dense<8> | cn::tanh;
        return cn::outputs<"kind", "copy">(code | cn::named<"class", cn::dense<3>>,
                                           code | cn::named<"copy", cn::dense<4>>);
    }
};
using network = cn::network<two_heads{}, cn::input<4>>;
using both_targets = cn::data::targets<cn::data::label<3>, cn::shape<4>>;
using data_set = cn::data::dataset<both_targets, cn::shape<4>>;

double number(std::size_t i) {
    return double(i * 37 % 101) / 50 - 1;
}

data_set samples(std::size_t count) {
    std::vector<float> x, copies, weights;
    std::vector<int> kinds;
    for (std::size_t i = 0; i < count; ++i) {
        kinds.push_back(int(i * 2 % 3));
        weights.push_back(i % 4 == 1 ? 0.0F : float(i % 3) + 0.5F);
        for (std::size_t j = 0; j < 4; ++j) {
            x.push_back(float(number(4 * i + j)));
            copies.push_back(float(number(i + 7 * j)));
        }
    }
    return data_set{x, kinds, copies}.with_weights(weights);
}

std::vector<std::size_t> first(std::size_t count) {
    std::vector<std::size_t> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        all[i] = i;
    }
    return all;
}

struct three_embeddings {
    static constexpr auto encoder =
        cn::shared<"encoder", cn::block<cn::dense<8>, cn::tanh, cn::dense<3>>>;
    constexpr auto operator()(auto anchor, auto positive, auto negative) const {
        return cn::outputs(encoder(anchor), encoder(positive), encoder(negative));
    }
};
using triplets = cn::network<three_embeddings{}, cn::input<4>, cn::input<4>, cn::input<4>>;
template <class Policy>
constexpr bool is_one = !requires { typename Policy::group; };

using losses = decltype(cn::losses<cn::cross_entropy, cn::loss_weight<0.25F, cn::mse>>);

template <class Policy>
using trained = cn::model<network, Policy, cn::batch<16>>;
template <class Model>
auto compiled(Model& model) {
    return cn::compile(model, losses{}, cn::momentum{.learning_rate = 0.1}, cn::accuracy,
                       cn::on_output<1, cn::mae>);
}

// Cross-entropy, squared and absolute error of what the model predicts, weighted means.
template <class Model>
std::vector<double> expected_scores(Model& model, data_set const& data) {
    auto const logits = model.predict(data);
    auto const copies = model.template predict<1>(data);
    std::vector<double> sums(4);
    double weights = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        double const* const z = logits.data() + 3 * i;
        double kind = 0, copy[4], sum = 0, squares = 0, distances = 0;
        data.copy_target(i, &kind);
        data.copy_target<1>(i, copy);
        for (std::size_t j = 0; j < 3; ++j) {
            sum += std::exp(z[j]);
        }
        for (std::size_t j = 0; j < 4; ++j) {
            double const error = copies[4 * i + j] - copy[j];
            squares += error * error / 4;
            distances += std::abs(error) / 4;
        }
        double const entropy = std::log(sum) - z[std::size_t(kind)];
        double const weight = double(data.weight(i));
        double const hit = std::max_element(z, z + 3) - z == std::ptrdiff_t(kind);
        double const each[] = {entropy, squares, hit, distances};
        for (std::size_t k = 0; k < 4; ++k) {
            sums[k] += weight * each[k];
        }
        weights += weight;
    }
    for (double& sum : sums) {
        sum /= weights;
    }
    return {sums[0] + 0.25 * sums[1], sums[0], sums[1], sums[2], sums[3]};
}

using images = cn::sequential<cn::input<3, 4, 5>, cn::conv2d<6, 3, cn::conv{.padding = cn::same}>,
                              cn::relu, cn::conv2d<2, 1>>;

// Cross-entropy of the first output, whose target is a class number; the second is kept near 1.
struct one_target {
    static constexpr bool labels = true;
    constexpr auto operator()(auto logits, auto copy, auto label) const {
        return cn::cross_entropy(logits, label) + 0.5 * cn::mean(cn::square(copy - 1.0));
    }
};

// The same as `losses`, in one.
struct two_targets {
    static constexpr char const* name = "two_targets";
    using targets = both_targets;
    constexpr auto operator()(auto logits, auto copy, auto kind, auto copied) const {
        return cn::cross_entropy(logits, kind) + 0.25 * cn::mse(copy, copied);
    }
};

template <class Model>
auto in_one(Model& model) {
    return cn::compile(model, two_targets{}, cn::momentum{.learning_rate = 0.1},
                       cn::on_output<1, cn::mae>);
}

// Of the outputs alone.
struct likeness {
    static constexpr char const* name = "likeness";
    using targets = cn::data::targets<>;
    constexpr auto operator()(auto kind, auto copy) const {
        return cn::sum(kind) * cn::square(cn::mean(copy));
    }
};
struct unlikeness : likeness {
    constexpr auto operator()(auto kind, auto copy) const { return -likeness{}(kind, copy); }
};
struct likeness_beside_a_target {
    static constexpr bool labels = false;
    constexpr auto operator()(auto kind, auto copy, auto) const { return likeness{}(kind, copy); }
};

// Of three numbers, the first counts.
struct first_of_three {
    static constexpr char const* name = "first_of_three";
    using targets = cn::shape<1>;
    constexpr auto operator()(auto prediction, auto target) const {
        return cn::mse(cn::slice<0, 0, 1>(prediction), target);
    }
};

// An output, a loss and a metric that do not depend on the samples.
struct with_table {
    constexpr auto operator()(auto x) const {
        cn::scope_guard const scope{*x.g, "own"};
        auto const table =
            cn::new_parameter<cn::shape<2, 1, 3>>(*x.g, "table", {.start = cn::he_normal});
        return cn::outputs<"y", "table">(x | cn::dense<4>, table);
    }
};
struct square_sum {
    static constexpr char const* name = "square_sum";
    static constexpr bool labels = false;
    constexpr auto operator()(auto x, auto) const { return cn::sum(cn::square(x)); }
};

constexpr char const* columns[] = {"loss", "kind_loss", "copy_loss", "accuracy", "copy_mae"};

} // namespace

TEST_CASE("a network with two outputs trains both by one loss and predicts each") {
    auto const data = cn::data::blobs<3, 4>(90, 7);
    trained<check::policy> model{cn::seed{3}};
    auto training = cn::compile(model, one_target{}, cn::adam{.learning_rate = 0.02}, cn::accuracy);
    auto const history = training.fit(data, {.epochs = 40, .verbose = cn::verbosity::silent});
    CHECK(history["accuracy"].back() > 0.9);
    CHECK(history["loss"].back() < 0.5 * history["loss"].front());

    auto const classes = model.predict(data);
    auto const copies = model.predict<1>(data);
    REQUIRE(classes.size() == 90 * 3);
    REQUIRE(copies.size() == 90 * 4);
    double error = 0;
    for (double x : copies) {
        error += (x - 1) * (x - 1) / double(copies.size());
    }
    CHECK(error < 0.05);

    auto const table = cn::summary(model);
    for (char const* part : {"dense_1.weight", "(8, 4)", "class.bias", "copy.weight", "output 1",
                             "Total params: 103"}) {
        INFO(part);
        CHECK(table.find(part) != std::string::npos);
    }
}

TEST_CASE("columns of a summary have room for long names") {
    constexpr auto body = [](auto x, auto y) {
        return x + (y | cn::named<"a_block_of_many_layers",
                                  cn::block<cn::named<"its_projection", cn::dense<3>>>>);
    };
    using net = cn::network<body, cn::input<3>, cn::input<2>>;
    auto const table = cn::summary(cn::model<net, cn::policy::cpu, cn::batch<1>>{});
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1) {
        lines.push_back(table.substr(at, table.find('\n', at) - at));
    }
    REQUIRE(lines.size() > 8);
    for (std::size_t i = 3; i < 8; ++i) { // two inputs, two parameters, the output
        CAPTURE(lines[i]);
        CHECK(lines[i].size() == lines[0].size());
        CHECK(lines[i].find('(') == lines[3].find('('));
    }
    CHECK(lines[3].starts_with("input 0 "));
    CHECK(lines[5].starts_with("a_block_of_many_layers.its_projection.weight (3, 2)"));
    CHECK(lines[7].starts_with("output "));
}

TEST_CASE("scores of every output are those of its target, and the loss is their weighted sum") {
    auto const data = samples(37);
    trained<check::policy> model{cn::seed{3}};
    auto training = compiled(model);
    auto const scores = training.evaluate(data);
    auto const expected = expected_scores(model, data);
    REQUIRE(scores.count == expected.size());
    for (std::size_t i = 0; i < scores.count; ++i) {
        CAPTURE(columns[i]);
        CHECK(scores.names[i] == std::string{columns[i]});
        CHECK(scores[columns[i]] == doctest::Approx(expected[i]).epsilon(1e-9));
    }
}

TEST_CASE("gradients of a loss for each output are those of finite differences") {
    auto const data = samples(11);
    trained<check::policy> model{cn::seed{4}};
    auto training = compiled(model);
    training.step(data, first(11), 0.0);
    for (std::size_t p = 0; p < model.parameter_tensors(); ++p) {
        auto const name = model.parameter_at(p).name.text();
        auto const gradient = training.gradient(name);
        auto const start = model.get(name);
        for (std::size_t i = 0; i < start.size(); ++i) {
            double loss[2];
            for (int side : {0, 1}) {
                auto moved = start;
                moved[i] += side == 0 ? -1e-5 : 1e-5;
                model.set(name, moved);
                loss[side] = training.evaluate(data).loss();
            }
            CAPTURE(name);
            CAPTURE(i);
            CHECK((loss[1] - loss[0]) / 2e-5 == doctest::Approx(gradient[i]).epsilon(1e-6));
        }
        model.set(name, start);
    }
}

TEST_CASE("one loss of all outputs and all targets is their weighted sum") {
    auto const data = samples(37);
    trained<check::policy> model{cn::seed{5}};
    auto apart = compiled(model);
    auto together = in_one(model);
    auto const a = apart.evaluate(data);
    auto const b = together.evaluate(data);
    CHECK(a.loss() == doctest::Approx(b.loss()).epsilon(1e-12));
    CHECK(a["copy_mae"] == b["copy_mae"]);

    // And a metric, beside one of the first output.
    auto watched = cn::compile(model, losses{}, cn::momentum{}, two_targets{}, cn::accuracy);
    auto const c = watched.evaluate(data);
    CHECK(c["two_targets"] == doctest::Approx(a.loss()).epsilon(1e-12));
    CHECK(c["accuracy"] == a["accuracy"]);
}

TEST_CASE("the only target of a loss is declared without a list") {
    using one = cn::sequential<cn::input<4>, cn::dense<3>>;
    cn::data::dataset<cn::shape<1>, cn::shape<4>> const data{std::vector<float>{1, 2, 3, 4},
                                                             std::vector<float>{5}};
    cn::model<one, cn::policy::cpu, cn::batch<1>> model{cn::seed{1}};
    auto const y = model.predict(data)[0];
    auto training = cn::compile(model, first_of_three{}, cn::sgd{});
    CHECK(training.evaluate(data).loss() == doctest::Approx((y - 5) * (y - 5)));
    cn::model<network, cn::policy::cpu, cn::batch<1>> both{cn::seed{1}};
    cn::data::dataset<cn::data::targets<cn::shape<1>, cn::shape<4>>, cn::shape<4>> const pair{
        std::vector<float>{1, 2, 3, 4}, std::vector<float>{5}, std::vector<float>(4)};
    auto listed = cn::compile(both, cn::loss_list{first_of_three{}, cn::mse}, cn::sgd{});
    double const off = both.predict(pair)[0] - 5;
    CHECK(listed.evaluate(pair)["kind_loss"] == doctest::Approx(off * off));
}

TEST_CASE("a history has the columns of every output") {
    trained<check::policy> model;
    auto training = compiled(model);
    auto const h =
        training.fit(samples(5), {.validation = samples(3), .verbose = cn::verbosity::silent});
    std::vector<std::string> expected;
    for (std::string const prefix : {"", "val_"}) {
        for (char const* column : columns) {
            expected.push_back(prefix + column);
        }
    }
    expected.insert(expected.end(), {"learning_rate", "seconds", "waiting"});
    CHECK(h.names() == expected);
}

TEST_CASE("a checkpoint knows the losses of the outputs, and goes on with them") {
    check::temporary_path const place{"outputs.safetensors"};
    std::string const& file = place.name;
    trained<check::policy> whole{cn::seed{8}}, parts{cn::seed{8}}, others{cn::seed{8}};
    auto of_whole = compiled(whole), of_parts = compiled(parts), of_others = compiled(others);
    auto const expected =
        of_whole.fit(samples(20), {.epochs = 2, .verbose = cn::verbosity::silent});
    of_parts.fit(samples(20), {.epochs = 1,
                               .verbose = cn::verbosity::silent,
                               .checkpoint = cn::checkpoint(of_parts, file)});
    cn::load(of_others, file);
    auto const resumed =
        of_others.fit(samples(20), {.epochs = 2, .verbose = cn::verbosity::silent});
    for (char const* column : columns) {
        CHECK(resumed[column].back() == expected[column].back());
    }
    auto together = in_one(others);
    CHECK_THROWS_WITH_AS(cn::load(together, file),
                         doctest::Contains("with the loss \"cross_entropy + 0.25 mse\", but "
                                           "this training has \"two_targets\""),
                         cn::file_error);
}

template <class Policy>
std::vector<double> trained_on_triplets() {
    cn::model<triplets, Policy, cn::batch<16 / (is_one<Policy> ? 1 : 2)>> model{cn::seed{3}};
    auto training =
        cn::compile(model, cn::triplet_margin_loss{.margin = 4}, cn::adam{.learning_rate = 0.01});
    std::vector<float> x[3];
    for (std::size_t i = 0; i < 96; ++i) {
        x[0].push_back(float(number(i)));
        x[1].push_back(float(number(i) + 0.125 * number(i + 7)));
        x[2].push_back(float(number(i + 50)));
    }
    cn::data::dataset<cn::data::targets<>, cn::shape<4>, cn::shape<4>, cn::shape<4>> const data{
        x[0], x[1], x[2]};
    auto const h = training.fit(data, {.epochs = 20, .verbose = cn::verbosity::silent});
    CHECK(h["loss"].back() < 0.8 * h["loss"].front());
    return check::everything(model);
}
TEST_CASE("embeddings are trained by triplets") {
    auto const one = trained_on_triplets<check::policy>();
    CHECK(check::largest_difference(trained_on_triplets<cn::policy::logical<check::policy, 2>>(),
                                    one) < 1e-9);
}

TEST_CASE("samples without targets train by a loss of the outputs alone, as with any targets") {
    cn::model<network, check::policy, cn::batch<8>> model{cn::seed{2}}, other{cn::seed{2}};
    auto training = cn::compile(model, likeness{}, cn::adam{}, likeness{});
    auto with_targets = cn::compile(other, likeness_beside_a_target{}, cn::adam{});
    auto const all = samples(20);
    std::vector<float> x(80), y(60);
    for (std::size_t i = 0; i < 20; ++i) {
        all.copy_input(i, x.data() + 4 * i);
    }
    cn::data::dataset<cn::data::targets<>, cn::shape<4>> const alone{x};
    cn::data::dataset<cn::shape<3>, cn::shape<4>> const beside{x, y};
    auto const last_loss = [](auto& fitted, auto const& data) {
        return fitted.fit(data, {.epochs = 2, .verbose = cn::verbosity::silent})["loss"].back();
    };
    double const expected = last_loss(with_targets, beside);
    CHECK(last_loss(training, alone) == doctest::Approx(expected).epsilon(1e-6));
    CHECK(check::largest_difference(check::everything(model), check::everything(other)) < 1e-6);
    CHECK(model.predict(alone) == model.predict(beside));
    auto const weighted = alone.skip(3).with_weights(std::vector<float>(17, 2));
    auto const found = training.evaluate(weighted);
    CHECK(found.loss() ==
          doctest::Approx(with_targets.evaluate(beside.skip(3)).loss()).epsilon(1e-6));
    CHECK(found["likeness"] == found.loss());
    CHECK(last_loss(training, cn::on_device(alone)) ==
          doctest::Approx(last_loss(with_targets, beside)).epsilon(1e-6));

    check::temporary_path const place{"outputs.safetensors"};
    cn::save(training, place.name);
    auto others = cn::compile(other, unlikeness{}, cn::adam{}, likeness{});
    CHECK_THROWS_WITH_AS(cn::load(others, place.name),
                         doctest::Contains("another loss of the same name"), cn::file_error);
}

TEST_CASE("what all samples share is the same for each of them, as an output, loss and metric") {
    cn::model<cn::network<with_table{}, cn::input<3>>, check::policy, cn::batch<4>> model;
    std::vector<double> const table{1, 2, 3, -4, 5, 0.5};
    model.set("own.table", table);
    std::size_t const count = 6; // the second batch is smaller
    std::vector<double> const x(3 * count, 0.5);
    std::vector<double> expected;
    for (std::size_t i = 0; i < count; ++i) {
        expected.insert(expected.end(), table.begin(), table.end());
    }
    CHECK(model.predict<1>(x) == expected);

    auto training = cn::compile(model, cn::losses<cn::mse, cn::loss_weight<0.5F, square_sum{}>>,
                                cn::sgd{}, cn::on_output<1, square_sum{}>);
    cn::data::dataset<cn::data::targets<cn::shape<4>, cn::shape<2, 1, 3>>, cn::shape<3>> const all{
        x, std::vector<double>(4 * count), std::vector<double>(6 * count)};
    auto const data = all.with_weights({1, 3, 0, 1, 2, 1});
    double const squares = 1 + 4 + 9 + 16 + 25 + 0.25;
    auto const scores = training.evaluate(data);
    CHECK(scores["table_loss"] == doctest::Approx(squares).epsilon(1e-12));
    CHECK(scores["table_square_sum"] == doctest::Approx(squares).epsilon(1e-12));
    CHECK(scores.loss() == doctest::Approx(scores["y_loss"] + 0.5 * squares).epsilon(1e-12));
    training.step(data, first(3), 0.0);
    CHECK(check::largest_difference(training.gradient("own.table"), table) < 1e-12);
}

TEST_CASE("an output without a name goes by its number") {
    using unnamed = cn::output_list<cn::shape<3>, cn::shape<4>>;
    CHECK(cn::detail::score_of_output<unnamed, 1, cn::mae_loss>::name ==
          std::string{"output_1_mae"});
    CHECK(cn::detail::score_of_output<unnamed, 12, cn::mse_loss>::name ==
          std::string{"output_12_mse"});
}

TEST_CASE("class weights are those of the only label among the targets") {
    auto const data = samples(12);
    std::vector<float> weights;
    for (std::size_t i = 0; i < 12; ++i) {
        float kind = 0;
        data.copy_target(i, &kind);
        weights.push_back(data.weight(i) * (kind + 1) / 2);
    }
    trained<check::policy> by_class{cn::seed{6}}, by_sample{cn::seed{6}};
    auto of_class = compiled(by_class), of_sample = compiled(by_sample);
    auto const a = of_class.step(data, first(12), {}, std::vector<float>{0.5F, 1, 1.5F});
    auto const b = of_sample.step(data.with_weights(weights), first(12));
    CHECK(a.weight == b.weight);
    CHECK(a.loss() == b.loss());
    CHECK(by_class.get("class.weight") == by_sample.get("class.weight"));
}

TEST_CASE("several replicas take several targets from their devices as one does from the host") {
    auto const data = samples(30);
    auto const run = [&](auto& model, auto const& from) {
        auto training = compiled(model);
        auto const h = training.fit(
            from, {.epochs = 2, .class_weight = {1, 0.5F, 2}, .verbose = cn::verbosity::silent});
        auto all = check::everything(model);
        for (char const* column : columns) {
            all.push_back(h[column].back());
        }
        all.push_back(training.evaluate(from)["copy_loss"]);
        return all;
    };
    trained<check::policy> one{cn::seed{7}};
    cn::model<network, cn::policy::logical<check::policy, 2>, cn::batch<8>> two{cn::seed{7}};
    auto const by_two = run(two, cn::on_device(data));
    CHECK(check::largest_difference(by_two, run(one, data)) < 1e-9);
}

// The same output as a sequence or with the rows of two heads apart.
template <class Rows>
struct rows_of_heads {
    constexpr auto operator()(auto x) const {
        return x | cn::reshape_to<Rows> | cn::dense<4> | cn::tanh;
    }
};

TEST_CASE("an output of three axes that is no image has targets and predictions in logical order") {
    std::vector<double> pixels(6 * 24), targets(6 * 24);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        pixels[i] = number(i);
        targets[i] = number(i * i) / 2;
    }
    auto const run = [&]<class Rows, class Target>(Rows, Target) {
        cn::data::dataset<Target, cn::shape<2, 3, 4>> const data{pixels, targets};
        using net = cn::sequential<cn::input<2, 3, 4>, rows_of_heads<Rows>{}>;
        cn::model<net, check::policy, cn::batch<4>> model{cn::seed{1}};
        auto training = cn::compile(model, cn::mse, cn::adam{.learning_rate = 1e-2});
        training.fit(data, {.epochs = 20, .verbose = cn::verbosity::silent});
        auto all = check::everything(model);
        auto const predicted = model.predict(data);
        all.insert(all.end(), predicted.begin(), predicted.end());
        all.push_back(training.evaluate(data)["loss"]);
        return all;
    };
    auto const sequence = run(cn::shape<6, 4>{}, cn::shape<6, 4>{});
    using rows = cn::row_major_shape<2, 3, 4>;
    CHECK(check::largest_difference(run(rows{}, rows{}), sequence) < 1e-12);
    CHECK(check::largest_difference(run(rows{}, cn::shape<2, 3, 4>{}), sequence) < 1e-12);
}

TEST_CASE("a volume is trained element by element, as an image of its rows") {
    std::vector<double> x(6 * 120), y(6 * 180);
    for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] = number(i * i) / 2;
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = number(i);
    }
    auto const run = [&]<class Net, class Input, class Target>(std::type_identity<Net>, Input,
                                                               Target) {
        auto const data = [&] { return cn::data::dataset<Target, Input>{x, y}; };
        cn::model<Net, check::policy, cn::batch<4>> model{cn::seed{1}};
        auto training = cn::compile(model, cn::mse, cn::adam{.learning_rate = 1e-2});
        training.fit(data(), {.epochs = 2, .verbose = cn::verbosity::silent});
        training.fit(cn::on_device(data()), {.epochs = 1, .verbose = cn::verbosity::silent});
        auto all = check::everything(model);
        auto const predicted = model.predict(data());
        all.insert(all.end(), predicted.begin(), predicted.end());
        std::vector<double> one(180);
        model.predict_one(std::span{x}.first(120), one);
        all.insert(all.end(), one.begin(), one.end());
        all.push_back(training.evaluate(data())["loss"]);
        return all;
    };
    using of_volumes = cn::sequential<cn::input<2, 4, 5, 3>, cn::batch_norm, cn::conv3d<3, 1>>;
    using of_images = cn::sequential<cn::input<2, 20, 3>, cn::batch_norm, cn::conv2d<3, 1>>;
    auto const volumes =
        run(std::type_identity<of_volumes>{}, cn::shape<2, 4, 5, 3>{}, cn::shape<3, 4, 5, 3>{});
    auto const images =
        run(std::type_identity<of_images>{}, cn::shape<2, 20, 3>{}, cn::shape<3, 20, 3>{});
    CHECK(check::largest_difference(volumes, images) < 1e-12);
}

TEST_CASE("predict_one takes vectors, arrays and spans of the numbers of one sample") {
    using net = cn::sequential<cn::input<3>, cn::dense<2>>;
    cn::model<net, cn::policy::cpu, cn::batch<4>> const model{cn::seed{1}};
    std::vector<float> const sample{1, -2, 3}, expected = model.predict(sample);
    std::array<float, 3> const in_array{1, -2, 3};
    std::vector<float> a(2);
    model.predict_one(sample, a);
    CHECK(a == expected);
    std::array<float, 2> b{};
    cn::predictor own{model};
    own.predict_one(in_array, b);
    CHECK(std::equal(b.begin(), b.end(), expected.begin()));
    model.predict_one(std::span{sample}, std::span{a}.first(2));
    CHECK(a == expected);
    cn::tensor<float, cn::shape<2>> c;
    model.predict_one(cn::tensor<float, cn::shape<3>>{1, -2, 3}, c);
    CHECK(std::equal(c.begin(), c.end(), expected.begin()));

    a.resize(3);
    CHECK_THROWS_WITH_AS(model.predict_one(sample, a),
                         "castnet: predict_one: the output has 3 numbers, expected 2", cn::error);
    CHECK_THROWS_WITH_AS(own.predict_one(std::vector<float>(4), b),
                         "castnet: predict_one: the input has 4 numbers, expected 3", cn::error);
}

// Numbers of the image, and the image with an offset for each channel, chosen by an id.
constexpr auto of_photo_and_id(cn::symbol<cn::shape<2, 2, 3>> photo,
                               cn::symbol<cn::ids<5>> number) {
    auto const offset = number | cn::named<"offset", cn::embedding<5, 2>>;
    return cn::outputs<"total", "photo">(cn::flatten(photo) | cn::named<"total", cn::dense<3>>,
                                         photo + cn::along_channels(offset));
}

TEST_CASE("several outputs are predicted at once, of several inputs") {
    using net = cn::network<of_photo_and_id, cn::input<2, 2, 3>, cn::input_ids<5>>;
    cn::model<net, cn::policy::cpu, cn::batch<2>> const model{cn::seed{3}};
    std::vector<float> photos(3 * 12);
    for (std::size_t i = 0; i < photos.size(); ++i) {
        photos[i] = float(i % 7) - 3;
    }
    std::vector<int> const ids{4, 0, 2};
    auto const totals = model.predict(photos, ids), pictures = model.predict<1>(photos, ids);
    auto const [first, second] = model.predict<0, 1>(photos, ids);
    CHECK(first == totals);
    CHECK(second == pictures);
    auto const all = model.predict<1, 0, 1>(photos, ids);
    CHECK(all == std::array{pictures, totals, pictures});

    cn::predictor own{model};
    CHECK(own.predict<1, 0>(photos, ids) == std::array{pictures, totals});
    for (std::size_t i = 0; i != ids.size(); ++i) {
        std::vector<float> const photo(photos.begin() + std::ptrdiff_t(12 * i),
                                       photos.begin() + std::ptrdiff_t(12 * i + 12));
        std::array<float, 3> total{};
        std::vector<float> picture(12), again(12);
        model.predict_one<0, 1>(photo, &ids[i], total, picture);
        own.predict_one<1>(photo, &ids[i], again);
        CHECK(picture == again);
        for (std::size_t k = 0; k != 12; ++k) {
            CHECK(picture[k] == pictures[12 * i + k]);
        }
        for (std::size_t k = 0; k != 3; ++k) {
            CHECK(total[k] == doctest::Approx(totals[3 * i + k]).epsilon(1e-5));
        }
        CHECK_THROWS_WITH_AS(model.predict_one<1>(std::vector<float>(11), &ids[i], again),
                             "castnet: predict_one: input 0 has 11 numbers, expected 12",
                             cn::error);
    }
    std::array<float, 3> total{};
    int const wrong = 5;
    CHECK_THROWS_WITH_AS(model.predict_one(photos.data(), &wrong, total),
                         doctest::Contains("expected a whole number from 0 to 4"), cn::error);
}

TEST_CASE("several outputs of tensors are tensors") {
    cn::model<cn::network<with_table{}, cn::input<3>>, cn::policy::cpu, cn::batch<4>> const model;
    auto const x = cn::random_normal<float, cn::shape<6, 3>>(1);
    auto const [y, table] = model.predict<0, 1>(x);
    static_assert(std::same_as<decltype(y), cn::tensor<float, cn::shape<6, 4>> const>);
    static_assert(std::same_as<decltype(table), cn::tensor<float, cn::shape<6, 2, 1, 3>> const>);
    CHECK(cn::all(y == model.predict(x)));
    CHECK(cn::all(table == model.predict<1>(x)));
}

TEST_CASE("outputs are predicted by their names, too") {
    cn::model<cn::network<with_table{}, cn::input<3>>, cn::policy::cpu, cn::batch<4>> const model;
    cn::predictor own{model};
    std::vector<float> const x(6, 0.5F);
    CHECK(model.predict<"table">(x) == model.predict<1>(x));
    CHECK(model.predict<"table", "y">(x) == model.predict<1, 0>(x));
    CHECK(own.predict<"table">(x) == model.predict<1>(x));
    auto const tensor = cn::random_normal<float, cn::shape<6, 3>>(1);
    CHECK(cn::all(model.predict<"table">(tensor) == model.predict<1>(tensor)));
    std::array<float, 4> by_number{}, by_name{};
    model.predict_one<0>(std::array{1.F, 2.F, 3.F}, by_number);
    model.predict_one<"y">(std::array{1.F, 2.F, 3.F}, by_name);
    CHECK(by_name == by_number);
    own.predict_one<"y">(std::array{3.F, 2.F, 1.F}, by_name);
    CHECK(by_name != by_number);
}

TEST_CASE("predict_one agrees with predict, for images of several channels too") {
    std::vector<float> pixels(2 * 60), targets(2 * 40);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
        pixels[i] = float(i % 17) / 17 - 0.4F;
    }
    cn::data::dataset<cn::shape<2, 4, 5>, cn::shape<3, 4, 5>> const data{pixels, targets};
    cn::model<images, cn::policy::cpu, cn::batch<4>> model{cn::seed{1}};
    auto const all = model.predict(data);
    for (std::size_t sample = 0; sample < 2; ++sample) {
        float one[40];
        model.predict_one(pixels.data() + sample * 60, one);
        for (std::size_t i = 0; i < 40; ++i) {
            CHECK(one[i] == doctest::Approx(all[sample * 40 + i]).epsilon(1e-6));
        }
    }
}
