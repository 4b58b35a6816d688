// Subsets of a data set: parts, stratified parts, folds of cross-validation, samples that a
// function keeps; and its repetition.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/data/adaptor.hpp>
#include <castnet/data/dataset.hpp>
#include <castnet/data/detail/sample_numbers.hpp>
#include <castnet/data/sample_error.hpp>
#include <castnet/data/shuffle.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace castnet::data {

// The samples with certain numbers, in this order; a number may occur more than once. Copies share
// the numbers.
template <class Data>
class selection : public adaptor<Data> {
public:
    size_t size() const { return numbers_->size(); }
    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        adaptor<Data>::template copy_input<I>(number_of(sample), out);
    }
    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        adaptor<Data>::template copy_target<I>(number_of(sample), out);
    }
    float weight(size_t sample) const
        requires requires(Data const& d) { d.weight(sample); }
    {
        return this->base().weight(number_of(sample));
    }
    void begin_epoch(epoch const& e) const
        requires ReadByEpochs<Data>
    {
        std::vector<size_t> order(e.order.size());
        std::transform(e.order.begin(), e.order.end(), order.begin(),
                       [&](size_t sample) { return (*numbers_)[sample]; });
        adaptor<Data>::begin_epoch({e.seed, e.number, order, e.rows});
    }

protected:
    selection(Data data, std::vector<size_t> numbers)
        : adaptor<Data>{std::move(data)},
          numbers_{std::make_shared<std::vector<size_t>>(std::move(numbers))} {}

    std::vector<size_t>& numbers() const { return *numbers_; }

private:
    size_t number_of(size_t sample) const {
        detail::check_sample("data::selection", sample, size());
        return (*numbers_)[sample];
    }

    std::shared_ptr<std::vector<size_t>> numbers_;
};

// The same samples in every epoch.
template <class Data>
class subset : public selection<Data> {
public:
    // Throws castnet::error for a number that the data set does not have.
    subset(Data data, std::vector<size_t> numbers)
        : selection<Data>{std::move(data), std::move(numbers)} {
        for (size_t const number : this->numbers()) {
            detail::check_sample("data::subset", number, this->base().size());
        }
    }
};

namespace detail {

// A class, so that every compiler prints the type.
template <class Data>
struct label_target {
    static constexpr int found = targets_of<Data>::only_label;
    static_assert(found >= 0, "castnet: samples are chosen or weighed by their class: the data set "
                              "needs exactly one target that is a label; see label_target<data>");
    static constexpr size_t number = found >= 0 ? size_t(found) : 0;
    using type = typename targets_of<Data>::template at<number>;
};

template <class Data>
size_t label_of(Data const& data, size_t sample) {
    using target = label_target<Data>;
    double label = 0;
    data::copy_target<target::number>(data, sample, &label);
    if constexpr (target::found >= 0) {
        whole_numbers_of<typename target::type>.check(&label, sample, "castnet: data");
    }
    return static_cast<size_t>(label);
}

// The numbers of the samples of each class, in random order.
template <class Data>
std::vector<std::vector<size_t>> shuffled_classes(Data const& data, std::uint64_t seed) {
    std::vector<size_t> order = detail::one_for_each(data.size());
    data::shuffle(order, seed, 0);
    std::vector<std::vector<size_t>> classes;
    for (size_t const sample : order) {
        size_t const label = label_of(data, sample);
        classes.resize(std::max(classes.size(), label + 1));
        classes[label].push_back(sample);
    }
    return classes;
}

// The same samples in random order, not class after class.
inline std::vector<size_t> mixed(std::vector<size_t> const& samples, std::uint64_t seed) {
    std::vector<size_t> order = one_for_each(samples.size());
    data::shuffle(order, seed, 1);
    std::transform(order.begin(), order.end(), order.begin(), [&](size_t i) { return samples[i]; });
    return order;
}

inline void check_fold(char const* call, size_t folds, size_t fold, size_t samples) {
    if (folds < 2 || folds > samples || fold >= folds) {
        throw error({"castnet: data::", call, ": found fold ", fold, " of ", folds,
                     ", expected one of at least two folds and at most ", samples,
                     ", as many as there are samples"});
    }
}

inline void check_fraction(char const* call, double fraction) {
    if (!(fraction >= 0 && fraction <= 1)) {
        throw error({"castnet: data::", call, ": found the fraction ", fraction,
                     ", expected one from 0 to 1"});
    }
}

template <class Data>
subset<Data> range_of(char const* call, Data const& data, size_t first, size_t last) {
    if (first > last || last > data.size()) {
        throw error({"castnet: data::", call, ": found ", std::max(first, last),
                     ", but the data set holds ", quantity(data.size(), "sample")});
    }
    std::vector<size_t> numbers = one_for_each(last - first);
    std::iota(numbers.begin(), numbers.end(), first);
    return {data, std::move(numbers)};
}

} // namespace detail

// The first n samples of any data set, all but those, and both; as the members of dataset.
template <class Data>
subset<Data> take(Data const& data, size_t n) {
    return detail::range_of("take", data, 0, n);
}
template <class Data>
subset<Data> skip(Data const& data, size_t n) {
    return detail::range_of("skip", data, n, data.size());
}
template <class Data>
parts<subset<Data>> split(Data const& data, double fraction) {
    detail::check_fraction("split", fraction);
    auto const n = static_cast<size_t>(std::llround(fraction * static_cast<double>(data.size())));
    return {take(data, n), skip(data, n)};
}

// The samples `times` times over, as one epoch of as many samples (tf.data's repeat). augment()
// around it changes each of them in another way.
template <class Data>
subset<Data> repeat(Data const& data, size_t times) {
    if (data.size() > 0 && times > std::vector<size_t>{}.max_size() / data.size()) {
        throw error({"castnet: data::repeat: found ", data.size(), " samples, ", times,
                     " times, which no memory can hold the numbers of"});
    }
    std::vector<size_t> numbers = detail::one_for_each(data.size() * times);
    for (size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = i % data.size();
    }
    return {data, std::move(numbers)};
}

// A sample of a data set, of which is read what is asked for.
template <class Data>
class sample_view {
public:
    sample_view(Data const& data, size_t number) : data_{data}, number_{number} {}

    size_t number() const { return number_; }
    template <size_t I = 0>
    std::vector<float> input() const {
        std::vector<float> values(Data::template input_shape<I>::count);
        data_.template copy_input<I>(number_, values.data());
        return values;
    }
    template <size_t I = 0>
    std::vector<float> target() const {
        std::vector<float> values(target_shape<typename targets_of<Data>::template at<I>>::count);
        data::copy_target<I>(data_, number_, values.data());
        return values;
    }
    // The only target that is a label.
    size_t label() const { return detail::label_of(data_, number_); }

private:
    Data const& data_;
    size_t number_;
};

// A class, so that every compiler prints the types.
template <class Keep, class Data>
struct keeps_samples {
    static_assert(std::is_invocable_r_v<bool, Keep const&, sample_view<Data>>,
                  "castnet: data::filter calls a function with a view of each sample: [](auto "
                  "sample) { return sample.label() < 1; }; see keeps_samples<function, data>");
    static constexpr bool checked = true;
};

// The samples for which keep(sample_view) is true, in their order. It is asked once for each of
// them, now; filters that look at labels decode no image.
template <class Data, class Keep>
subset<Data> filter(Data const& data, Keep const& keep) {
    static_assert(keeps_samples<Keep, Data>::checked);
    std::vector<size_t> numbers;
    for (size_t i = 0; i < data.size(); ++i) {
        if (reading_sample(i, [&] { return bool(keep(sample_view<Data>{data, i})); })) {
            numbers.push_back(i);
        }
    }
    return {data, std::move(numbers)};
}

// Two parts in random order of which the first has this fraction of all samples, rounded to the
// nearest count, and of those of every class, rounded up or down (scikit-learn's train_test_split
// with stratify).
template <class Data>
parts<subset<Data>> stratified_split(Data const& data, double fraction, std::uint64_t seed = 0) {
    detail::check_fraction("stratified_split", fraction);
    std::vector<size_t> numbers[2];
    size_t seen = 0;
    for (auto const& samples : detail::shuffled_classes(data, seed)) {
        seen += samples.size();
        auto const n = std::min(std::llround(fraction * static_cast<double>(seen)) -
                                    static_cast<long long>(numbers[0].size()),
                                static_cast<long long>(samples.size()));
        numbers[0].insert(numbers[0].end(), samples.begin(), samples.begin() + n);
        numbers[1].insert(numbers[1].end(), samples.begin() + n, samples.end());
    }
    return {{data, detail::mixed(numbers[0], seed)}, {data, detail::mixed(numbers[1], seed)}};
}

// Fold number `fold` of `folds`: all other samples to train with and its own to validate with, in
// random order. Every sample is in the second part of one fold.
template <class Data>
parts<subset<Data>> k_fold(Data const& data, size_t folds, size_t fold, std::uint64_t seed = 0) {
    detail::check_fold("k_fold", folds, fold, data.size());
    std::vector<size_t> order = detail::one_for_each(data.size());
    data::shuffle(order, seed, 0);
    auto const first = order.begin() + static_cast<std::ptrdiff_t>(data.size() * fold / folds);
    auto const last = order.begin() + static_cast<std::ptrdiff_t>(data.size() * (fold + 1) / folds);
    std::vector<size_t> held_out(first, last);
    order.erase(first, last);
    return {{data, std::move(order)}, {data, std::move(held_out)}};
}

// The same with nearly as many samples of each class in every fold (scikit-learn's
// StratifiedKFold): the counts differ by one at most, and so do the sizes of folds.
template <class Data>
parts<subset<Data>> stratified_k_fold(Data const& data, size_t folds, size_t fold,
                                      std::uint64_t seed = 0) {
    detail::check_fold("stratified_k_fold", folds, fold, data.size());
    std::vector<size_t> numbers[2];
    size_t dealt = 0; // to one fold after the other, class after class
    for (auto const& samples : detail::shuffled_classes(data, seed)) {
        for (size_t const sample : samples) {
            numbers[dealt++ % folds == fold ? 1 : 0].push_back(sample);
        }
    }
    return {{data, detail::mixed(numbers[0], seed)}, {data, detail::mixed(numbers[1], seed)}};
}

} // namespace castnet::data
