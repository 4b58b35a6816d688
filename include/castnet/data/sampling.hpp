// Resampling for each epoch: by weight, as many of each class, or some of all samples.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/data/detail/epoch_owner.hpp>
#include <castnet/data/detail/sample_numbers.hpp>
#include <castnet/data/shuffle.hpp>
#include <castnet/data/subset.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace castnet::data {

// The samples whose numbers draw(epoch) returns, as many in each; outside of fit(), those of epoch
// 0. Copies share the epoch; Draw::call is the function that makes the data set.
template <class Data, class Draw>
class drawn : public selection<Data> {
public:
    drawn(Data data, Draw draw)
        : selection<Data>{std::move(data), draw(std::uint64_t{0})}, draw_{std::move(draw)} {}

    // An epoch within another of the same number, as where a callback of fit() evaluates, changes
    // nothing: workers may be reading for the outer one.
    void begin_epoch(epoch const& e) const {
        drawn_->owner.claim(Draw::call, e);
        try {
            set(e);
            if constexpr (ReadByEpochs<Data>) {
                selection<Data>::begin_epoch(e);
            }
        } catch (...) {
            release();
            throw;
        }
    }
    void end_epoch() const {
        selection<Data>::end_epoch();
        release();
    }
    static bool changes_with_epoch() { return true; }

private:
    void set(epoch const& e) const {
        if (drawn_->epoch != e.number) {
            auto const numbers = draw_(e.number);
            this->numbers().assign(numbers.begin(), numbers.end()); // in place: others read it
            drawn_->epoch = e.number;
        }
    }
    void release() const {
        if (auto const outer = drawn_->owner.release()) {
            set(*outer);
        }
    }

    struct shared {
        detail::epoch_owner owner;
        std::uint64_t epoch = 0; // that the numbers are of
    };

    Draw draw_;
    std::shared_ptr<shared> drawn_ = std::make_shared<shared>();
};

namespace detail {

// With replacement, each number with a probability in proportion to its weight.
struct draw_by_weight {
    static constexpr char const* call = "data::weighted_sample";

    std::vector<double> sums; // of the weights up to each
    size_t count;
    std::uint64_t seed;

    std::vector<size_t> operator()(std::uint64_t epoch) const {
        constexpr std::uint32_t purpose = 0x77656967; // "weig"
        random_stream random{purpose, seed, epoch};
        std::vector<size_t> numbers = one_for_each(count);
        // The last one with a weight; it takes what rounding brings to the whole sum.
        auto const last = std::lower_bound(sums.begin(), sums.end(), sums.back());
        for (size_t& number : numbers) {
            double const at = (double(random.word()) + random.uniform()) * 0x1p-32 * sums.back();
            number = static_cast<size_t>(std::upper_bound(sums.begin(), last, at) - sums.begin());
        }
        return numbers;
    }
};

// The next `count` numbers of random orders of all, one after the other.
struct draw_in_turn {
    static constexpr char const* call = "data::epochs_of";

    size_t all, count;
    std::uint64_t seed;

    std::vector<size_t> operator()(std::uint64_t epoch) const {
        std::vector<size_t> numbers, order = one_for_each(all);
        numbers.reserve(count);
        for (std::uint64_t next = epoch * count; numbers.size() < count;) {
            data::shuffle(order, seed, next / all);
            size_t const first = size_t(next % all),
                         taken = std::min(count - numbers.size(), all - first);
            numbers.insert(numbers.end(), order.begin() + std::ptrdiff_t(first),
                           order.begin() + std::ptrdiff_t(first + taken));
            next += taken;
        }
        return numbers;
    }
};

} // namespace detail

// `count` samples drawn with replacement, each with a probability in proportion to its weight
// (PyTorch's WeightedRandomSampler): `weights` is a vector, an array or a tensor of numbers. Throws
// castnet::error unless there is a finite weight, not negative, for each sample, and their sum is
// above 0.
template <class Data, std::ranges::sized_range Weights>
    requires(std::is_arithmetic_v<std::ranges::range_value_t<Weights>>)
auto weighted_sample(Data const& data, Weights const& weights, size_t count,
                     std::uint64_t seed = 0) {
    size_t const found = std::ranges::size(weights);
    if (found != data.size()) {
        throw error({"castnet: data::weighted_sample: found ", quantity(found, "weight"),
                     ", expected one for each of the ", data.size(), " samples"});
    }
    std::vector<double> sums;
    for (auto const number : weights) {
        double const weight = static_cast<double>(number);
        if (!(weight >= 0) || !castnet::detail::is_finite(weight)) {
            throw error({"castnet: data::weighted_sample: the weight of sample ", sums.size(),
                         " is ", weight, ", expected a finite number from 0"});
        }
        sums.push_back(weight + (sums.empty() ? 0 : sums.back()));
    }
    if (sums.empty() || !(sums.back() > 0) || !castnet::detail::is_finite(sums.back())) {
        throw error({"castnet: data::weighted_sample: the sum of the ", sums.size(), " weights is ",
                     sums.empty() ? 0 : sums.back(), ", expected a finite one above 0"});
    }
    return drawn{data, detail::draw_by_weight{std::move(sums), count, seed}};
}

// The same with weights that make all classes equally likely; `count` is the data set's unless
// given.
template <class Data>
auto balanced_sample(Data const& data, size_t count = 0, std::uint64_t seed = 0) {
    if (data.size() == 0) {
        throw error("castnet: data::balanced_sample: the data set holds no sample");
    }
    auto const classes = detail::shuffled_classes(data, seed);
    std::vector<double> weights(data.size());
    for (auto const& samples : classes) {
        for (size_t const sample : samples) {
            weights[sample] = 1 / static_cast<double>(samples.size());
        }
    }
    return weighted_sample(data, weights, count == 0 ? data.size() : count, seed);
}

// Epochs of `count` samples, which go through all of the data in random order, and then again in
// another one: Keras' steps_per_epoch, times the batch. Throws castnet::error for no samples.
template <class Data>
auto epochs_of(Data const& data, size_t count, std::uint64_t seed = 0) {
    if (count == 0 || data.size() == 0) {
        throw error({"castnet: data::epochs_of: found epochs of ", quantity(count, "sample"),
                     " of a data set of ", data.size(), ", expected at least one of each"});
    }
    return drawn{data, detail::draw_in_turn{data.size(), count, seed}};
}

} // namespace castnet::data
