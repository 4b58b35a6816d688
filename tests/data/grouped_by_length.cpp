// Batches of samples of similar length: each sample once in an epoch, in an order that is new in
// each, which fit() keeps, also where it goes on from a checkpoint.
#include <castnet/castnet.hpp>
#include <castnet/data.hpp>
#include <castnet/policy/mirrored.hpp>

#include "../temporary_path.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace cn = castnet;
using cn::data::grouped_by_length, doctest::Contains;

namespace {

constexpr std::size_t time = 100;
using sequences = cn::data::dataset<cn::shape<1>, cn::shape<1>, cn::length_of<time>>;

// Samples with their own numbers, and a length from 1 to time.
sequences numbered(std::size_t count) {
    std::vector<float> x(count), y(count);
    std::vector<int> lengths(count);
    for (std::size_t i = 0; i < count; ++i) {
        x[i] = float(i);
        y[i] = float(i % 7) / 7;
        lengths[i] = int(i * 37 % time) + 1;
    }
    return sequences{std::move(x), std::move(lengths), std::move(y)};
}

template <std::size_t Input = 0, class Data>
std::vector<int> numbers_in(Data const& data) {
    std::vector<int> found;
    for (std::size_t i = 0; i < data.size(); ++i) {
        float x = 0;
        data.template copy_input<Input>(i, &x);
        found.push_back(int(x));
    }
    return found;
}

template <std::size_t Input = 0, class Data>
std::vector<int> in_epoch(Data const& data, std::uint64_t number) {
    cn::data::epoch_scope const scope{data, {.seed = 7, .number = number}};
    return numbers_in<Input>(data);
}

// The steps that a loop computes of all batches: as many as the longest sample of each has.
std::size_t steps_of(std::vector<int> const& lengths, std::size_t batch) {
    std::size_t steps = 0;
    for (std::size_t i = 0; i < lengths.size(); i += batch) {
        auto const first = lengths.begin() + std::ptrdiff_t(i),
                   last = first + std::ptrdiff_t(std::min(batch, lengths.size() - i));
        steps += std::size_t(*std::max_element(first, last)) * std::size_t(last - first);
    }
    return steps;
}

} // namespace

TEST_CASE("an epoch has every sample once, in an order of its own") {
    for (std::size_t const count : {0U, 1U, 5U, 8U, 31U, 1000U, 1003U}) {
        CAPTURE(count);
        auto const data = grouped_by_length<1>(numbered(count), 8, 3);
        for (std::uint64_t number = 0; number < 3; ++number) {
            auto numbers = in_epoch(data, number);
            CHECK(in_epoch(grouped_by_length<1>(numbered(count), 8, 3), number) == numbers);
            if (count > 8) {
                CHECK(in_epoch(data, number + 1) != numbers);
                CHECK(in_epoch(grouped_by_length<1>(numbered(count), 8, 4), number) != numbers);
            }
            std::sort(numbers.begin(), numbers.end());
            CHECK(numbers == numbers_in(numbered(count)));
        }
    }
}

TEST_CASE("samples of a batch are of similar length, and change from epoch to epoch") {
    constexpr std::size_t batch = 20;
    auto const all = numbered(10'000);
    auto const own = numbers_in<1>(all);
    auto const data = grouped_by_length<1>(all, batch);
    auto const needed = std::size_t(std::accumulate(own.begin(), own.end(), 0));
    for (std::uint64_t number = 0; number < 3; ++number) {
        auto const lengths = in_epoch<1>(data, number);
        CHECK(steps_of(own, batch) > needed * 8 / 5);
        CHECK(steps_of(lengths, batch) < needed * 41 / 40);
        CHECK(!std::is_sorted(lengths.begin(), lengths.end()));
    }
    // The partners of the first sample, of two epochs.
    auto const partners = [&](std::uint64_t number) {
        auto const numbers = in_epoch(data, number);
        auto const at = std::find(numbers.begin(), numbers.end(), 0) - numbers.begin();
        auto const first = numbers.begin() + at / std::ptrdiff_t(batch) * std::ptrdiff_t(batch);
        std::vector<int> found(first, first + std::ptrdiff_t(batch));
        std::sort(found.begin(), found.end());
        return found;
    };
    CHECK(partners(0) != partners(1));

    // Of few batches, in windows of a quarter of them.
    auto const few = numbered(170);
    CHECK(steps_of(in_epoch<1>(grouped_by_length<1>(few, 10), 1), 10) <
          steps_of(numbers_in<1>(few), 10) * 4 / 5);
}

TEST_CASE("samples that are too few for a batch come last, and are of any length") {
    auto const data = grouped_by_length<1>(numbered(1003), 10);
    std::vector<int> last;
    for (std::uint64_t number = 0; number < 40; ++number) {
        auto const lengths = in_epoch<1>(data, number);
        last.insert(last.end(), lengths.end() - 3, lengths.end());
        auto const whole = std::vector<int>(lengths.begin(), lengths.end() - 3);
        auto const needed = std::size_t(std::accumulate(whole.begin(), whole.end(), 0));
        CHECK(steps_of(whole, 10) < needed * 11 / 10);
    }
    double const mean = std::accumulate(last.begin(), last.end(), 0.0) / double(last.size());
    CHECK(std::abs(mean - 50) < 10);
}

TEST_CASE("lengths are an input or any range of numbers, one of each sample") {
    auto const all = numbered(120);
    auto const by_input = in_epoch(grouped_by_length<1>(all, 8, 5), 2);
    CHECK(in_epoch(grouped_by_length(all, numbers_in<1>(all), 8, 5), 2) == by_input);
    auto const lengths = numbers_in<1>(all);
    cn::tensor<double, cn::shape<120>> tensor;
    std::copy(lengths.begin(), lengths.end(), tensor.data());
    CHECK(in_epoch(grouped_by_length(all, tensor, 8, 5), 2) == by_input);

    auto const part = cn::data::k_fold(all, 3, 1).first; // which has its own lengths
    CHECK(in_epoch(grouped_by_length<1>(part, 8, 5), 2) ==
          in_epoch(grouped_by_length(part, numbers_in<1>(part), 8, 5), 2));
    CHECK(grouped_by_length<1>(numbered(3).with_weights({1, 1, 1}), 2).weight(0) == 1);

    CHECK_THROWS_WITH_AS(grouped_by_length(all, lengths, 0),
                         "castnet: data::grouped_by_length: found batches of 0 samples, expected "
                         "at least one",
                         cn::error);
    CHECK_THROWS_WITH_AS(grouped_by_length(part, lengths, 8),
                         "castnet: data::grouped_by_length: found 120 lengths, expected one for "
                         "each of the 80 samples",
                         cn::error);
    std::array<double, 2> const not_finite{1, std::numeric_limits<double>::quiet_NaN()};
    CHECK_THROWS_WITH_AS(grouped_by_length(numbered(2), not_finite, 8),
                         Contains("the length of sample 1 is nan, expected a finite number"),
                         cn::error);
}

namespace {

// Keeps the numbers of the samples whose inputs are read.
struct watched : cn::data::adaptor<sequences> {
    std::shared_ptr<std::vector<std::size_t>> read = std::make_shared<std::vector<std::size_t>>();

    using adaptor::adaptor;
    template <std::size_t I = 0, class T>
    void copy_input(std::size_t sample, T* out) const {
        if (I == 0) {
            read->push_back(sample);
        }
        adaptor::copy_input<I>(sample, out);
    }
};

struct sum_of_inputs {
    constexpr auto operator()(auto x, auto length) const {
        return (x + length) / 100 | cn::dense<1>;
    }
};

template <class Policy = cn::policy::cpu, std::size_t Batch = 8>
struct run {
    using network = cn::network<sum_of_inputs{}, cn::input<1>, cn::input_length<time>>;
    cn::model<network, Policy, cn::batch<Batch>> model{cn::seed{4}};
    decltype(cn::compile(model, cn::mse, cn::adam{})) training =
        cn::compile(model, cn::mse, cn::adam{});

    // The schedule throws before step `end`.
    void fit(auto const& data, bool shuffle = true, std::string const& file = {},
             std::uint64_t end = 1000) {
        auto const schedule = [end](std::uint64_t step, std::uint64_t) {
            return step < end ? 0.01 : throw std::runtime_error("power failure");
        };
        training.fit(data, {.epochs = 3,
                            .schedule = schedule,
                            .shuffle = shuffle,
                            .verbose = cn::verbosity::silent,
                            .checkpoint = file.empty() ? cn::checkpoint_options{}
                                                       : cn::checkpoint(training, file, 1)});
    }
    auto weights() const { return model.get("dense_1.weight"); }
};

} // namespace

TEST_CASE("fit() keeps the order, whether or not it shuffles") {
    auto const all = numbered(100);
    watched const seen{all};
    run<> shuffles, keeps, reads_ahead;
    run<cn::policy::mirrored<cn::policy::cpu, 2>, 4> mirrors;
    shuffles.fit(grouped_by_length(seen, numbers_in<1>(all), 8, 2));
    std::vector<std::size_t> expected;
    for (std::uint64_t number = 0; number < 3; ++number) {
        for (int const each : in_epoch(grouped_by_length<1>(all, 8, 2), number)) {
            expected.push_back(std::size_t(each));
        }
    }
    CHECK(*seen.read == expected);
    keeps.fit(grouped_by_length<1>(all, 8, 2), false);
    CHECK(keeps.weights() == shuffles.weights());
    reads_ahead.fit(cn::data::prefetch(grouped_by_length<1>(all, 8, 2), {.workers = 2}));
    CHECK(reads_ahead.weights() == shuffles.weights());
    mirrors.fit(grouped_by_length<1>(all, 8, 2));
    CHECK(mirrors.weights()[0] == doctest::Approx(shuffles.weights()[0]));
}

TEST_CASE("a fit with grouped samples goes on from its checkpoint, within an epoch or after it") {
    auto const data = [] { return grouped_by_length<1>(numbered(60), 8, 2); };
    run<> whole;
    whole.fit(data());
    for (std::uint64_t const end : {3U, 8U, 13U}) { // of eight steps in each epoch
        CAPTURE(end);
        check::temporary_path const file{"grouped.safetensors"};
        CHECK_THROWS_WITH(run<>{}.fit(data(), true, file.name, end), "power failure");
        run<> resumed;
        cn::load(resumed.training, file.name);
        resumed.fit(data(), true, file.name);
        CHECK(resumed.weights() == whole.weights());
    }
}
