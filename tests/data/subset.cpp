#include <castnet/data/generated.hpp>
#include <castnet/data/labels.hpp>
#include <castnet/data/sampling.hpp>
#include <castnet/data/subset.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <set>
#include <string>

using namespace castnet;
using namespace castnet::data;
using doctest::Contains;

namespace {

using numbers = dataset<label<3>, shape<1>>;

// Samples with their own numbers, of which a half is of class 0, a third of class 1.
numbers numbered(size_t count) {
    std::vector<float> x(count);
    std::vector<int> labels(count);
    for (size_t i = 0; i < count; ++i) {
        x[i] = float(i);
        labels[i] = i % 6 < 3 ? 0 : i % 6 < 5 ? 1 : 2;
    }
    return numbers{std::move(x), std::move(labels)};
}

template <class Data>
std::vector<int> numbers_in(Data const& data) {
    std::vector<int> found;
    for (size_t i = 0; i < data.size(); ++i) {
        float x = 0;
        data.copy_input(i, &x);
        found.push_back(int(x));
    }
    return found;
}

template <class Data>
std::vector<size_t> class_counts(Data const& data) {
    std::vector<size_t> counts(3);
    for (size_t i = 0; i < data.size(); ++i) {
        float label = 0;
        data.copy_target(i, &label);
        ++counts[size_t(label)];
    }
    return counts;
}

template <class First, class Last>
void check_parts(First const& first, Last const& last, size_t count) {
    auto a = numbers_in(first), b = numbers_in(last);
    std::set<int> all(a.begin(), a.end());
    all.insert(b.begin(), b.end());
    CHECK(a.size() + b.size() == count);
    CHECK(all.size() == count);
}

} // namespace

TEST_CASE("parts of any data set") {
    auto const data = subset{numbered(10), {9, 7, 7, 0}};
    CHECK(numbers_in(data) == std::vector{9, 7, 7, 0});
    CHECK(numbers_in(take(data, 2)) == std::vector{9, 7});
    CHECK(numbers_in(skip(data, 3)) == std::vector{0});
    CHECK(numbers_in(split(data, 0.5).last) == std::vector{7, 0});
    CHECK_THROWS_WITH_AS((subset{numbered(3), {3}}), Contains("sample number 3"), castnet::error);
    CHECK_THROWS_WITH_AS(take(data, 5), Contains("but the data set holds 4 samples"),
                         castnet::error);
    CHECK_THROWS_AS(split(data, 1.5), castnet::error);
    auto const weighted = subset{numbered(3).with_weights({1, 2, 3}), {2, 0}};
    CHECK(weighted.weight(0) == 3);
}

TEST_CASE("a stratified part has its share of every class") {
    auto const data = numbered(600);
    auto const [train, test] = stratified_split(data, 0.8, 4);
    CHECK(class_counts(train) == std::vector<size_t>{240, 160, 80});
    CHECK(class_counts(test) == std::vector<size_t>{60, 40, 20});
    check_parts(train, test, 600);
    auto const order = numbers_in(train);
    CHECK(!std::is_sorted(order.begin(), order.end()));
    CHECK(numbers_in(stratified_split(data, 0.8, 4).first) == order);
    CHECK(numbers_in(stratified_split(data, 0.8, 5).first) != order);
}

TEST_CASE("classes of few samples do not change how large stratified parts are") {
    std::vector<int> labels(400);
    for (size_t i = 0; i < labels.size(); ++i) {
        labels[i] = int(i % 100); // four of each
    }
    dataset<label<100>, shape<1>> const data{std::vector<float>(400), std::move(labels)};
    for (auto [fraction, size] : {std::pair{0.9, 360U}, {0.1, 40U}, {0.6, 240U}}) {
        auto const [first, second] = stratified_split(data, fraction);
        CHECK(first.size() == size);
        CHECK(second.size() == 400 - size);
        std::vector<int> counts(100);
        for (int const each : labels_of(first)) {
            ++counts[size_t(each)];
        }
        auto const [least, most] = std::minmax_element(counts.begin(), counts.end());
        CHECK(*least == int(4 * fraction));
        CHECK(*most == int(4 * fraction) + 1);
    }
}

TEST_CASE("labels of samples are read, and weights with which all classes count the same") {
    numbers const data{std::vector<float>(6), std::vector<int>{0, 2, 0, 0, 2, 0}};
    CHECK(labels_of(data) == std::vector<int>{0, 2, 0, 0, 2, 0});
    CHECK(labels_of(skip(data, 4)) == std::vector<int>{2, 0});
    CHECK(balanced_class_weight(data) == std::vector<float>{0.5F, 0, 1});
}

TEST_CASE("labels of steps that count, and targets of 0 and 1, have such weights, too") {
    int const none = castnet::data::ignored;
    dataset<label<3, 2>, castnet::shape<1>> const steps{
        std::vector<float>(4), std::vector<int>{0, 2, 0, none, 0, 2, 0, none}};
    CHECK(balanced_class_weight(steps) == std::vector<float>{0.5F, 0, 1});
    dataset<castnet::shape<1>, castnet::shape<1>> const decisions{std::vector<float>(4),
                                                                  std::vector<float>{1, 0, 0, 0}};
    CHECK(balanced_class_weight(decisions) == std::vector<float>{2 / 3.0F, 2});
    dataset<castnet::shape<1>, castnet::shape<1>> const prices{std::vector<float>(2),
                                                               std::vector<float>{1, 0.5}};
    CHECK_THROWS_WITH_AS(
        balanced_class_weight(prices),
        "castnet: data: the target of sample 1 is 0.5, expected a whole number from 0 to 1",
        castnet::error);
}

TEST_CASE("every sample is held out by one fold") {
    auto const data = numbered(23);
    std::multiset<int> held_out;
    for (size_t fold = 0; fold < 5; ++fold) {
        auto const [train, validation] = k_fold(data, 5, fold, 2);
        check_parts(train, validation, 23);
        for (int const number : numbers_in(validation)) {
            held_out.insert(number);
        }
        CHECK(validation.size() >= 4);
        CHECK(validation.size() <= 5);
    }
    CHECK(held_out.size() == 23);
    CHECK(std::set<int>(held_out.begin(), held_out.end()).size() == 23);
    CHECK_THROWS_AS(k_fold(data, 1, 0), castnet::error);
    CHECK_THROWS_AS(k_fold(data, 24, 0), castnet::error);
    CHECK_THROWS_AS(k_fold(data, 5, 5), castnet::error);
}

TEST_CASE("every stratified fold has its share of every class") {
    auto const data = numbered(27);
    std::set<int> held_out;
    auto const all = class_counts(data);
    for (size_t fold = 0; fold < 5; ++fold) {
        auto const [train, validation] = stratified_k_fold(data, 5, fold, 2);
        check_parts(train, validation, 27);
        auto const numbers = numbers_in(validation);
        held_out.insert(numbers.begin(), numbers.end());
        CHECK(validation.size() >= 5);
        CHECK(validation.size() <= 6);
        auto const counts = class_counts(validation);
        for (size_t i = 0; i < all.size(); ++i) {
            CHECK(counts[i] >= all[i] / 5);
            CHECK(counts[i] <= (all[i] + 4) / 5);
        }
        auto const order = numbers_in(train);
        CHECK(!std::is_sorted(order.begin(), order.end()));
        CHECK(numbers_in(stratified_k_fold(data, 5, fold, 2).first) == order);
    }
    CHECK(held_out.size() == 27);
    CHECK_THROWS_WITH_AS(stratified_k_fold(data, 5, 5),
                         Contains("data::stratified_k_fold: found fold 5 of 5"), castnet::error);
}

TEST_CASE("samples are drawn in proportion to their weights") {
    auto const data = numbered(4);
    double const weights[] = {1, 0, 3, 4};
    std::vector<int> counts(4);
    for (int const number : numbers_in(weighted_sample(data, weights, 8000, 1))) {
        ++counts[size_t(number)];
    }
    CHECK(counts[1] == 0);
    CHECK(std::abs(counts[0] - 1000) < 150);
    CHECK(std::abs(counts[2] - 3000) < 200);
    auto const balanced = class_counts(balanced_sample(numbered(60), 6000));
    for (size_t const count : balanced) {
        CHECK(std::abs(int(count) - 2000) < 200);
    }
    CHECK(balanced_sample(numbered(60)).size() == 60);
    double const none[] = {0, 0, 0, 0}, negative[] = {1, -1, 1, 1};
    CHECK_THROWS_AS(weighted_sample(data, none, 1), castnet::error);
    CHECK_THROWS_AS(weighted_sample(data, negative, 1), castnet::error);
    CHECK_THROWS_AS(weighted_sample(data, std::span{weights}.first(2), 1), castnet::error);
}

TEST_CASE("weights whose sum no number divides draw samples that are there") {
    double const weights[] = {0, 5e-324, 0};
    CHECK(numbers_in(weighted_sample(numbered(3), weights, 20)) == std::vector<int>(20, 1));
    CHECK(numbers_in(weighted_sample(numbered(3), std::array{0.F, 2.F, 0.F}, 20)) ==
          std::vector<int>(20, 1));
}

TEST_CASE("a sample that a subset does not have is an error") {
    subset const part{numbered(5), {4, 2}};
    float x = 0;
    CHECK_THROWS_WITH_AS(part.copy_input(2, &x),
                         "castnet: data::selection: found sample number 2, expected one below 2",
                         castnet::error);
    CHECK_THROWS_AS(part.copy_target(2, &x), castnet::error);
    CHECK_THROWS_WITH_AS((subset{numbered(5), {5}}),
                         "castnet: data::subset: found sample number 5, expected one below 5",
                         castnet::error);
}

TEST_CASE("more samples than memory has room for the numbers of are refused") {
    auto const zero = [](size_t, auto x) { x[0] = 0; };
    for (int const bits : {60, 61, 63}) {
        size_t const samples = size_t{1} << bits;
        auto const endless = generated<shape<1>, shape<1>>(samples, zero, zero);
        CHECK_THROWS_WITH_AS(take(endless, samples - 1),
                             Contains(("numbers of " + std::to_string(samples - 1)).c_str()),
                             castnet::error);
    }
}

TEST_CASE("samples are drawn anew for every epoch") {
    auto const in_epoch = [](auto const& data, std::uint64_t number) {
        data.begin_epoch({.seed = 7, .number = number});
        auto const numbers = numbers_in(data);
        data.end_epoch();
        return numbers;
    };
    auto const drawn = balanced_sample(numbered(60), 30);
    auto const first = in_epoch(drawn, 0);
    CHECK(in_epoch(drawn, 1) != first);
    CHECK(in_epoch(drawn, 0) == first);

    auto const parts = epochs_of(numbered(10), 4);
    CHECK(parts.size() == 4);
    std::vector<int> all; // twice all ten
    for (std::uint64_t number = 0; number < 5; ++number) {
        for (int const each : in_epoch(parts, number)) {
            all.push_back(each);
        }
    }
    std::vector<int> once(all.begin(), all.begin() + 10), again(all.begin() + 10, all.end());
    CHECK(once != again);
    std::sort(once.begin(), once.end());
    std::sort(again.begin(), again.end());
    CHECK(once == numbers_in(numbered(10)));
    CHECK(again == once);
    CHECK(in_epoch(epochs_of(numbered(3), 8), 1).size() == 8);
    CHECK_THROWS_AS(epochs_of(numbered(3), 0), castnet::error);
}

TEST_CASE("samples come again, and are augmented anew each time") {
    auto const data = numbered(3);
    CHECK(numbers_in(data::repeat(data, 2)) == std::vector{0, 1, 2, 0, 1, 2});
    CHECK(data::repeat(data, 0).size() == 0);
    CHECK(data::repeat(take(data, 0), 5).size() == 0);
    CHECK_THROWS_AS(data::repeat(data, ~size_t{0} / 3 + 2), castnet::error); // 3 times as many: 2
    auto const weighted = data::repeat(numbered(3).with_weights({1, 2, 3}), 2);
    CHECK(weighted.weight(4) == 2);
}

TEST_CASE("a filter keeps samples by what it looks at") {
    auto const data = numbered(12);
    auto const few = filter(data, [](auto const& sample) { return sample.label() == 1; });
    CHECK(numbers_in(few) == std::vector{3, 4, 9, 10});
    CHECK(numbers_in(filter(data, [](auto const& sample) { return sample.number() > 9; })) ==
          std::vector{10, 11});
    CHECK(numbers_in(filter(data, [](auto const& sample) { return sample.input()[0] < 2; })) ==
          std::vector{0, 1});
    auto const none = filter(data, [](auto const& sample) { return sample.target()[0] > 99; });
    CHECK(none.size() == 0);
}
