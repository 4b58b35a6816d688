// In-memory data set, dataset<Target, Inputs...>: samples with one or more inputs and targets.
#pragma once

#include <castnet/core/called_otherwise.hpp>
#include <castnet/core/text.hpp>
#include <castnet/data/column.hpp>
#include <castnet/data/detail/sample_numbers.hpp>
#include <castnet/data/sample_error.hpp>
#include <castnet/data/whole_numbers.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <tuple>

namespace castnet::data {

// Weights of samples other than 0: from the least to the most.
inline constexpr float least_weight = 1e-18F, most_weight = 1e18F;

// The two halves of dataset::split.
template <class Dataset>
struct parts {
    Dataset first, last;
};

namespace detail {

// Throws castnet::error unless there is a weight for each sample, in its range.
[[gnu::noinline]] inline void check_weights(char const* call, std::span<float const> weights,
                                            size_t samples) {
    if (weights.size() != samples) {
        throw error({"castnet: ", call, ": found ", quantity(weights.size(), "weight"),
                     ", expected one for each of the ", samples, " samples"});
    }
    for (size_t i = 0; i < weights.size(); ++i) {
        bool const in_range = weights[i] >= least_weight && weights[i] <= most_weight;
        if (weights[i] != 0 && !in_range) {
            throw error({"castnet: ", call, ": the weight of sample ", i, " is ", weights[i],
                         ", expected 0 or a number from ", least_weight, " to ", most_weight,
                         "; only the ratios of weights matter; numbers of either sign, such as "
                         "advantages, are a second target, which a loss multiplies with"});
        }
    }
}

// The immutable columns of a data set, one for each input and then one for each target.
template <class Targets, Shape... Inputs>
class table;
template <Target... Targets, Shape... Inputs>
class table<targets<Targets...>, Inputs...> {
    template <class>
    using as_column = column;

public:
    // Throws castnet::error unless all columns hold the same number of whole samples and every id
    // and label is one that its type allows.
    [[gnu::noinline]] explicit table(as_column<Inputs>... inputs, as_column<Targets>... all_targets)
        : columns_{std::make_shared<columns const>(
              columns{std::move(inputs)..., std::move(all_targets)...})} {
        for (size_t i = column_count; i-- > 0;) { // the targets first
            size_t const found = (*columns_)[i].size();
            if (found != samples() * counts[i]) {
                throw error({"castnet: dataset: ", name_of(i), ": found ", quantity(found, "value"),
                             ", expected ", quantity(samples(), "sample"), " of ",
                             quantity(counts[i], "value")});
            }
        }
        for (size_t i = 0; i < column_count; ++i) {
            if (allowed[i].values > 0) {
                check_numbers(i);
            }
        }
    }

    size_t samples() const { return (*columns_)[counting].size() / counts[counting]; }

    column const& operator[](size_t i) const { return (*columns_)[i]; }

private:
    static constexpr size_t first_target = sizeof...(Inputs);
    static constexpr size_t column_count = first_target + sizeof...(Targets);
    static constexpr size_t counting = // the column that says how many samples there are
        sizeof...(Targets) > 0 ? first_target : 0;
    using columns = std::array<column, column_count>;

    // Of each column.
    static constexpr size_t counts[] = {Inputs::count..., target_shape<Targets>::count...};
    static constexpr whole_numbers allowed[] = {whole_numbers_of<Inputs>...,
                                                whole_numbers_of<Targets>...};

    [[gnu::noinline]] static std::string name_of(size_t i) {
        return i < first_target          ? string_of({"input ", i})
               : sizeof...(Targets) == 1 ? "the target"
                                         : string_of({"target ", i - first_target});
    }

    [[gnu::noinline]] void check_numbers(size_t i) const {
        bool const only = i == first_target && sizeof...(Targets) == 1;
        std::string const context =
            only ? "castnet: dataset" : string_of({"castnet: dataset: ", name_of(i)});
        std::vector<double> found(counts[i]);
        for (size_t sample = 0; sample < samples(); ++sample) {
            (*columns_)[i].copy(sample * counts[i], counts[i], found.data());
            allowed[i].check(found.data(), sample, context);
        }
    }

    std::shared_ptr<columns const> columns_;
};

} // namespace detail

// Only for its message: the dataset is its specialisation.
template <class Type, class... Inputs>
class dataset {
    static_assert(castnet::detail::never<Type>,
                  "castnet: dataset<target, inputs...> needs the type of the target first: "
                  "label<classes>, a shape of real numbers or targets<...>; then a shape, or "
                  "ids<...>, for each input");

public:
    explicit dataset(auto const&...) {}
};

// A class, so that every compiler prints its arguments.
template <size_t Inputs, size_t Targets, class... Given>
struct takes_columns {
    static_assert(castnet::detail::never<Given...>,
                  "castnet: a dataset takes a column for each input and then one for each target, "
                  "such as a std::vector of numbers; of tensors, cn::data::of_tensors(x, y) is a "
                  "data set; see takes_columns<inputs, targets, what was given...>");
    static constexpr bool checked = true;
};

// The same for Keras' shuffle() and batch() of a data set.
template <class... Given>
struct batches_of_fit {
    static_assert(castnet::detail::never<Given...>,
                  "castnet: training.fit(data) shuffles the samples in every epoch, unless told "
                  "{.shuffle = false}, and takes as many at once as the model says: cn::batch<32>");
    static constexpr bool checked = true;
};

// The same for a sample by its number in brackets.
template <class Number>
struct samples_are_copied {
    static_assert(castnet::detail::never<Number>,
                  "castnet: a data set has no data[i]: data.copy_input(i, numbers) and "
                  "data.copy_target(i, numbers) write what sample i has, and data.subset({i}) is a "
                  "data set of this sample");
};

// Type is label<K>, a shape of real numbers or, for several targets or none, targets<T…> of these;
// Inputs are shapes, in row-major order: channels, height, width; ids<…> where the numbers are
// whole. The constructor takes one column for each input, then one for each target; it throws
// castnet::error unless all hold the same number of whole samples and every id and label is one
// that its type allows. Copies and subsets share the columns and hold only a list of sample
// numbers.
template <TargetType Type, Shape... Inputs>
class dataset<Type, Inputs...> : detail::table<as_targets<Type>, Inputs...> {
    static_assert(sizeof...(Inputs) >= 1, "castnet: a dataset needs at least one input");

    using table = detail::table<as_targets<Type>, Inputs...>;

public:
    using table::table;

    // Only for its message.
    template <class... Given>
        requires(sizeof...(Given) > 0 && !std::is_constructible_v<table, Given const&...> &&
                 !(std::is_base_of_v<table, Given> || ...))
    explicit dataset(Given const&...) : dataset{none()} {
        static_assert(takes_columns<sizeof...(Inputs), as_targets<Type>::count, Given...>::checked);
    }

    using target_type = Type;
    static constexpr size_t input_count = sizeof...(Inputs);
    static constexpr size_t target_count = as_targets<Type>::count;
    template <size_t I>
    using input_shape = std::tuple_element_t<I, std::tuple<Inputs...>>;
    template <size_t I>
    using target_shape = data::target_shape<typename as_targets<Type>::template at<I>>;

    size_t size() const { return samples_.size(); }

    // Only for their messages.
    static constexpr castnet::detail::called_otherwise<batches_of_fit> batch{}, shuffle{};
    template <class Number>
    auto operator[](Number) const {
        void(samples_are_copied<Number>{});
    }

    // Writes input I of a sample: input_shape<I>::count numbers.
    template <size_t I = 0, class T>
    void copy_input(size_t sample, T* out) const {
        constexpr size_t count = input_shape<I>::count;
        column_of<I>().copy(stored(sample) * count, count, out);
    }

    // Writes target I of a sample: target_shape<I>::count numbers; a label is its class number.
    template <size_t I = 0, class T>
    void copy_target(size_t sample, T* out) const {
        constexpr size_t count = target_shape<I>::count;
        column_of<input_count + I>().copy(stored(sample) * count, count, out);
    }

    // The column of input I, or of target I - input_count, and the number of a sample there.
    template <size_t I>
    column const& column_of() const {
        return table::operator[](I);
    }
    size_t number_in_columns(size_t sample) const { return stored(sample); }

    // The weight of a sample in sums of losses, gradients and metrics; 1 unless with_weights.
    float weight(size_t sample) const {
        check_sample(sample);
        return weights_.empty() ? 1.0F : weights_[sample];
    }

    // The same samples with these weights, one per sample: 0, or from least_weight to most_weight.
    // A step divides by their sum, so only their ratios matter; further apart, products of weights
    // and gradients would leave the range of float.
    [[gnu::noinline]] dataset with_weights(std::vector<float> weights) const {
        detail::check_weights("dataset::with_weights", weights, size());
        auto weighted = *this;
        weighted.weights_ = std::move(weights);
        return weighted;
    }
    template <std::same_as<double> Number>
    dataset with_weights(std::vector<Number> const& weights) const {
        return with_weights(std::vector<float>(weights.begin(), weights.end()));
    }

    // The samples with these numbers, in this order; a number may occur more than once.
    dataset subset(std::span<size_t const> samples) const {
        dataset chosen{*this, {}};
        chosen.samples_.reserve(samples.size());
        for (size_t const sample : samples) {
            chosen.samples_.push_back(stored(sample));
            if (!weights_.empty()) {
                chosen.weights_.push_back(weights_[sample]);
            }
        }
        return chosen;
    }

    dataset subset(std::initializer_list<size_t> samples) const {
        return subset(std::span{samples.begin(), samples.size()});
    }
    template <std::signed_integral Number>
    dataset subset(std::vector<Number> const& samples) const {
        for (Number const sample : samples) {
            if (sample < 0) {
                throw error({"castnet: dataset::subset: found the sample number ", sample,
                             ", expected one from 0"});
            }
        }
        return subset(std::vector<size_t>(samples.begin(), samples.end()));
    }

    // The first n samples.
    dataset take(size_t n) const { return range("take", 0, n); }

    // All but the first n samples.
    dataset skip(size_t n) const { return range("skip", n, size()); }

    // The first `fraction` of the samples, rounded to the nearest count, and the rest; in order,
    // so shuffle first if the samples are sorted.
    parts<dataset> split(double fraction) const {
        if (!(fraction >= 0 && fraction <= 1)) {
            throw error({"castnet: dataset::split: found the fraction ", fraction,
                         ", expected one from 0 to 1"});
        }
        auto const n = static_cast<size_t>(std::llround(fraction * static_cast<double>(size())));
        return {take(n), skip(n)};
    }

private:
    static dataset none();

    // Other samples of the same columns.
    dataset(table const& all_columns, std::vector<size_t> samples)
        : table{all_columns}, samples_{std::move(samples)} {}

    void check_sample(size_t sample) const { detail::check_sample("dataset", sample, size()); }

    // The number in the columns of a sample of this subset.
    size_t stored(size_t sample) const {
        check_sample(sample);
        return samples_[sample];
    }

    [[gnu::noinline]] dataset range(char const* call, size_t first, size_t last) const {
        if (first > last || last > size()) {
            throw error({"castnet: dataset::", call, ": found ", std::max(first, last),
                         ", but the data set holds ", quantity(size(), "sample")});
        }
        auto const slice = [&](auto const& list) {
            return std::decay_t<decltype(list)>(list.begin() + static_cast<std::ptrdiff_t>(first),
                                                list.begin() + static_cast<std::ptrdiff_t>(last));
        };
        dataset chosen{*this, slice(samples_)};
        if (!weights_.empty()) {
            chosen.weights_ = slice(weights_);
        }
        return chosen;
    }

    std::vector<size_t> samples_ =
        detail::sample_numbers(table::samples()); // numbers in the columns
    std::vector<float> weights_;                  // one per sample of samples_; empty: all 1
};

} // namespace castnet::data
