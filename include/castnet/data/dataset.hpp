// dataset<Target, Inputs...>: samples in memory, each with one or more inputs and a target.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/data/column.hpp>
#include <castnet/data/label.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>

namespace castnet::data {

// The two halves of dataset::split.
template <class Dataset>
struct parts {
    Dataset first, last;
};

// Target is label<K> or a shape of real numbers; Inputs are shapes, in row-major order: channels,
// height, width. Copies and subsets share the columns and hold only a list of sample numbers.
template <Target TargetType, Shape... Inputs>
class dataset {
    static_assert(sizeof...(Inputs) >= 1, "castnet: a dataset needs at least one input");

    template <class>
    using as_column = column;

public:
    using target_type = TargetType;
    template <size_t I>
    using input_shape = std::tuple_element_t<I, std::tuple<Inputs...>>;
    static constexpr size_t input_count = sizeof...(Inputs);
    static constexpr size_t target_count = [] { // numbers per target: 1 for a label
        if constexpr (is_label<TargetType>) {
            return size_t{1};
        } else {
            return TargetType::count;
        }
    }();

    static constexpr float least_weight = 1e-18F, most_weight = 1e18F; // beside 0

    // One column per input, then the target's. Throws castnet::error unless all hold the same
    // number of whole samples and every label is a class number.
    [[gnu::cold]] explicit dataset(as_column<Inputs>... inputs, column target)
        : columns_{
              std::make_shared<columns const>(columns{{std::move(inputs)...}, std::move(target)})} {
        auto const& held = *columns_;
        size_t const samples = held.target.size() / target_count;
        for (size_t i = 0; i < input_count; ++i) {
            check_size(string_of({"input ", i}), held.inputs[i].size(), input_counts[i], samples);
        }
        check_size("the target", held.target.size(), target_count, samples);
        if constexpr (is_label<TargetType>) {
            check_labels();
        }
        samples_.resize(samples);
        for (size_t i = 0; i < samples; ++i) {
            samples_[i] = i;
        }
    }

    size_t size() const { return samples_.size(); }

    // Writes input I of a sample: input_shape<I>::count numbers.
    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        constexpr size_t count = input_shape<I>::count;
        columns_->inputs[I].copy(stored(sample) * count, count, out);
    }

    // Writes the target of a sample: target_count numbers; a label is its class number.
    template <class T>
    void copy_target(size_t sample, T* out) const {
        columns_->target.copy(stored(sample) * target_count, target_count, out);
    }

    // The column of input I, or of the target (I = input_count), and the number of a sample there.
    template <size_t I>
    column const& column_of() const {
        if constexpr (I < input_count) {
            return columns_->inputs[I];
        } else {
            return columns_->target;
        }
    }
    size_t number_in_columns(size_t sample) const { return stored(sample); }

    // How much a sample counts in sums of losses, gradients and metrics; 1 unless with_weights.
    float weight(size_t sample) const {
        check_sample(sample);
        return weights_.empty() ? 1.0F : weights_[sample];
    }

    // The same samples with these weights, one per sample: 0, or from least_weight to most_weight.
    // A step divides by their sum, so only their ratios matter; further apart, products of weights
    // and gradients would leave the range of float.
    [[gnu::cold]] dataset with_weights(std::vector<float> weights) const {
        if (weights.size() != size()) {
            throw error({"castnet: dataset::with_weights: found ", weights.size(),
                         " weights, expected one for each of the ", size(), " samples"});
        }
        for (size_t i = 0; i < weights.size(); ++i) {
            bool const in_range = weights[i] >= least_weight && weights[i] <= most_weight;
            if (weights[i] != 0 && !in_range) {
                throw error({"castnet: dataset::with_weights: the weight of sample ", i, " is ",
                             weights[i], ", expected 0 or a number from ", least_weight, " to ",
                             most_weight, "; only the ratios of weights matter"});
            }
        }
        auto weighted = *this;
        weighted.weights_ = std::move(weights);
        return weighted;
    }

    // The samples with these numbers, in this order; a number may occur more than once.
    dataset subset(std::span<size_t const> samples) const {
        dataset chosen{columns_};
        chosen.samples_.reserve(samples.size());
        for (size_t const sample : samples) {
            chosen.samples_.push_back(stored(sample));
            if (!weights_.empty()) {
                chosen.weights_.push_back(weights_[sample]);
            }
        }
        return chosen;
    }

    // The first n samples.
    dataset take(size_t n) const { return range("take", 0, n); }

    // All but the first n samples.
    dataset skip(size_t n) const { return range("skip", n, size()); }

    // The first `fraction` of the samples, rounded to the nearest count, and the rest; in order,
    // so shuffle first where the order has a meaning.
    parts<dataset> split(double fraction) const {
        if (!(fraction >= 0 && fraction <= 1)) {
            throw error({"castnet: dataset::split: found the fraction ", fraction,
                         ", expected one from 0 to 1"});
        }
        auto const n = static_cast<size_t>(std::llround(fraction * static_cast<double>(size())));
        return {take(n), skip(n)};
    }

private:
    struct columns {
        std::array<column, sizeof...(Inputs)> inputs;
        column target;
    };

    static constexpr size_t input_counts[] = {Inputs::count...};

    explicit dataset(std::shared_ptr<columns const> held) : columns_{std::move(held)} {}

    [[gnu::cold]] static void check_size(std::string const& which, size_t found, size_t per_sample,
                                         size_t samples) {
        if (found != samples * per_sample) {
            throw error({"castnet: dataset: ", which, ": found ", found, " values, expected ",
                         samples, " samples of ", per_sample, " values"});
        }
    }

    void check_labels() const {
        auto const& target = columns_->target;
        for (size_t i = 0; i < target.size(); ++i) {
            double found = 0;
            target.copy(i, 1, &found);
            bool const in_range = found >= 0 && found < static_cast<double>(TargetType::classes);
            if (!in_range || found != static_cast<double>(static_cast<size_t>(found))) {
                throw error({"castnet: dataset: the label of sample ", i, " is ", found,
                             ", expected a whole number from 0 to ", TargetType::classes - 1});
            }
        }
    }

    void check_sample(size_t sample) const {
        if (sample >= size()) {
            throw error({"castnet: dataset: found sample number ", sample, ", expected one below ",
                         size()});
        }
    }

    // Where a sample of this subset lies in the columns.
    size_t stored(size_t sample) const {
        check_sample(sample);
        return samples_[sample];
    }

    [[gnu::cold]] dataset range(char const* call, size_t first, size_t last) const {
        if (first > last || last > size()) {
            throw error({"castnet: dataset::", call, ": found ", std::max(first, last),
                         ", but there are only ", size(), " samples"});
        }
        dataset chosen{columns_};
        auto const slice = [&](auto const& list) {
            return std::decay_t<decltype(list)>(list.begin() + static_cast<std::ptrdiff_t>(first),
                                                list.begin() + static_cast<std::ptrdiff_t>(last));
        };
        chosen.samples_ = slice(samples_);
        if (!weights_.empty()) {
            chosen.weights_ = slice(weights_);
        }
        return chosen;
    }

    std::shared_ptr<columns const> columns_;
    std::vector<size_t> samples_; // numbers in the columns
    std::vector<float> weights_;  // one per sample of samples_; empty: all 1
};

} // namespace castnet::data
