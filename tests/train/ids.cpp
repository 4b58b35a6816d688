// Inputs of whole numbers: in data sets, in predictions, on devices, and where they are wrong.
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../parameters.hpp"
#include "policy.hpp"

#include <array>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;

namespace {

// Words of a text and what it is about, and a category.
struct reader {
    constexpr auto operator()(auto words, auto kind) const {
        auto const x = words | cn::embedding<50, 6>.padding_idx(0) | cn::flatten;
        return cn::concat(x, kind | cn::embedding<4, 3>) | cn::dense<12> | cn::tanh | cn::dense<3>;
    }
};
using network = cn::network<reader{}, cn::input_ids<50, 7>, cn::input_ids<4>>;
using data_set = cn::data::dataset<cn::data::label<3>, cn::ids<50, 7>, cn::ids<4>>;
using words_only = cn::sequential<cn::input_ids<50, 3>, cn::embedding<50, 2>, cn::flatten>;

std::vector<int> words(std::size_t count) {
    std::vector<int> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        all[i] = int(i * i * 31 % 97 % 50);
    }
    return all;
}
std::vector<unsigned char> kinds(std::size_t count) { // as bytes
    std::vector<unsigned char> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        all[i] = static_cast<unsigned char>(i % 4);
    }
    return all;
}
data_set samples(std::size_t count) {
    std::vector<std::int16_t> labels(count);
    for (std::size_t i = 0; i < count; ++i) {
        labels[i] = std::int16_t(i * 5 % 3);
    }
    return data_set{words(count * 7), kinds(count), labels};
}

// What a training on this policy leaves.
template <class Policy, std::size_t Batch>
std::vector<double> trained(auto const& data) {
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{4}};
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{1e-2}, cn::accuracy);
    training.fit(data, {.epochs = 3, .verbose = cn::verbosity::silent});
    auto all = check::everything(model);
    all.push_back(training.evaluate(data).loss());
    auto const y = model.predict(data);
    all.insert(all.end(), y.begin(), y.end());
    return all;
}

// A data set of the program's own, with one id that is wrong.
struct unchecked {
    using target_type = cn::data::label<3>;
    static constexpr std::size_t input_count = 1;
    template <std::size_t I>
    using input_shape = cn::ids<50, 3>;
    double wrong;

    std::size_t size() const { return 5; }
    template <std::size_t I, class T>
    void copy_input(std::size_t sample, T* out) const {
        out[0] = out[2] = 49;
        out[1] = sample == 3 ? static_cast<T>(wrong) : T(0);
    }
    template <class T>
    void copy_target(std::size_t, T* out) const {
        *out = 1;
    }
};

std::string refusal(auto const& f) {
    try {
        f();
    } catch (cn::error const& e) {
        return e.what();
    }
    return "";
}

std::string const at_sample_3 = "castnet: input 0: the id at position 1 of sample 3 is ";
std::string const expected = ", expected a whole number from 0 to 49";

} // namespace

TEST_CASE("a network of ids trains alike from the host, from the device, and on replicas") {
    data_set const data = samples(37);
    std::vector<double> const once = trained<check::policy, 12>(data);
    CHECK(trained<check::policy, 12>(cn::on_device(data)) == once);
    std::vector<double> const shared = trained<cn::policy::logical<check::policy, 3>, 4>(data);
    CHECK(check::largest_difference(shared, once) < 1e-9);
    CHECK(trained<cn::policy::logical<check::policy, 3>, 4>(cn::on_device(data)) == shared);
}

TEST_CASE("the row of the padding starts as 0, and stays it") {
    cn::model<network, check::policy, cn::batch<8>> model{cn::seed{4}};
    auto const row = [&](std::size_t i) {
        auto const w = model.get("embedding_1.weight");
        return std::vector<double>(w.begin() + std::ptrdiff_t(i * 6),
                                   w.begin() + std::ptrdiff_t(i * 6 + 6));
    };
    auto const before = row(1);
    CHECK(row(0) == std::vector<double>(6));
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{1e-2});
    training.fit(samples(20), {.epochs = 1, .verbose = cn::verbosity::silent});
    CHECK(row(0) == std::vector<double>(6));
    CHECK(row(1) != before);
}

TEST_CASE("predict takes ids as whole numbers of any type") {
    cn::model<network, check::policy, cn::batch<4>> const model{cn::seed{1}};
    std::vector<int> const w = words(9 * 7);
    std::vector<std::uint16_t> const short_words(w.begin(), w.end());
    std::vector<unsigned char> const k = kinds(9);
    auto const y = model.predict(samples(9));
    CHECK(model.predict(w, k) == y);
    CHECK(model.predict(short_words, std::span{k}) == y);

    cn::model<words_only, check::policy, cn::batch<4>> const rows{cn::seed{1}};
    std::array<std::int32_t, 3> const ids{7, 49, 0};
    double out[6];
    rows.predict_one(ids.data(), out);
    CHECK(rows.predict(ids) == std::vector<double>(out, out + 6));
    CHECK(out[0] == rows.get("0.weight")[14]);
    cn::predictor own{rows};
    double again[6];
    own.predict_one(ids.data(), again);
    CHECK(std::equal(out, out + 6, again));
}

TEST_CASE("an id that there is none of is refused before a step") {
    cn::model<words_only, check::policy, cn::batch<4>> model{cn::seed{1}};
    std::vector<std::int64_t> ids(15, 3);
    for (std::int64_t const wrong : {std::int64_t{50}, std::int64_t{-1}, std::int64_t{1} << 40}) {
        ids[10] = wrong;
        CHECK(refusal([&] { model.predict(ids); }) ==
              at_sample_3 + std::to_string(wrong) + expected);
    }
    std::int32_t const one[] = {3, -5, 3};
    double out[6];
    CHECK(refusal([&] { model.predict_one(one, out); }) ==
          "castnet: input 0: the id at position 1 of sample 0 is -5" + expected);

    using labelled =
        cn::sequential<cn::input_ids<50, 3>, cn::embedding<50, 2>, cn::flatten, cn::dense<3>>;
    cn::model<labelled, check::policy, cn::batch<4>> network{cn::seed{1}};
    auto training = cn::compile(network, cn::cross_entropy, cn::adam{});
    double const nan = std::numeric_limits<double>::quiet_NaN();
    std::pair<double, char const*> const wrong_ones[] = {
        {50, "50"}, {-1, "-1"}, {0.5, "0.5"}, {nan, "nan"}, {1e30, "1e+30"}};
    for (auto const& [wrong, text] : wrong_ones) {
        unchecked const data{wrong};
        CHECK(refusal([&] { network.predict(data); }) == at_sample_3 + text + expected);
        CHECK(refusal([&] { training.evaluate(data); }) == at_sample_3 + text + expected);
        CHECK(refusal([&] {
                  training.fit(data, {.epochs = 1, .verbose = cn::verbosity::silent});
              }) == at_sample_3 + text + expected);
        CHECK(refusal([&] { training.evaluate(cn::on_device(data)); }) ==
              at_sample_3 + text + expected);
    }
}

TEST_CASE("a data set refuses ids that its type does not allow, and takes any whole numbers") {
    using one = cn::data::dataset<cn::data::label<2>, cn::ids<50, 3>>;
    std::vector<int> ids(6, 49);
    CHECK(one{ids, std::vector<int>{0, 1}}.size() == 2);
    ids[5] = 50;
    CHECK(refusal([&] { one{ids, std::vector<int>{0, 1}}; }) ==
          "castnet: dataset: input 0: the id at position 2 of sample 1 is 50" + expected);
    CHECK(refusal([&] { one{std::vector<float>{1, 2, 3, 4.5F, 0, 0}, std::vector<int>{0, 1}}; }) ==
          "castnet: dataset: input 0: the id at position 0 of sample 1 is 4.5" + expected);
    using exact = cn::data::dataset<cn::data::label<2>, cn::ids<(1 << 24), 1>>;
    float kept = 0;
    exact{std::vector<std::uint32_t>{(1 << 24) - 1}, std::vector<int>{0}}.copy_input(0, &kept);
    CHECK(kept == 16777215);
    CHECK(refusal([&] { exact{std::vector<long>{(1 << 24) + 1}, std::vector<int>{0}}; }) ==
          "castnet: data::column: value 0 is 16777217, whole numbers must lie between -2^24 and "
          "2^24");
}
