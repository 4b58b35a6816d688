// Batches of sequences of similar length, in a random order that is new in each epoch.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/data/detail/random_stream.hpp>
#include <castnet/data/detail/sample_numbers.hpp>
#include <castnet/data/sample_error.hpp>
#include <castnet/data/sampling.hpp>
#include <castnet/data/shuffle.hpp>

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace castnet::data {

namespace detail {

// All samples in random order, then sorted by length within windows of whole batches, whose order
// is random again. A window is at most a quarter of the samples, so that those of a batch differ
// from epoch to epoch. The last samples, too few for a batch, stay at the end: of any length, so
// that none counts more than others, because its batch is small, in all epochs.
struct draw_by_length {
    static constexpr char const* call = "data::grouped_by_length";

    std::vector<double> lengths;
    size_t batch;
    std::uint64_t seed;

    std::vector<size_t> operator()(std::uint64_t epoch) const {
        std::vector<size_t> order = one_for_each(lengths.size());
        data::shuffle(order, seed, epoch);
        std::vector<size_t> place = one_for_each(order.size()); // of each sample in this order
        for (size_t i = 0; i < order.size(); ++i) {
            place[order[i]] = i;
        }
        size_t const batches = order.size() / batch, full = batches * batch,
                     window = batch * std::clamp<size_t>(batches / 4, 1, 50);
        auto const at = [&](size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
        for (size_t first = 0; first < full; first += window) {
            std::sort(at(first), at(std::min(first + window, full)), [&](size_t a, size_t b) {
                return std::pair{lengths[a], place[a]} < std::pair{lengths[b], place[b]};
            });
        }
        constexpr std::uint32_t purpose = 0x67726f75; // "grou"
        random_stream random{purpose, seed, epoch};
        for (size_t i = batches; i > 1; --i) {
            if (size_t const k = random.below(i); k != i - 1) {
                std::swap_ranges(at(k * batch), at((k + 1) * batch), at((i - 1) * batch));
            }
        }
        return order;
    }
};

// fit() keeps its order.
template <class Data>
class grouped : public drawn<Data, draw_by_length> {
public:
    using drawn<Data, draw_by_length>::drawn;

    static size_t shuffle_buffer() { return 1; }
};

template <class Data>
grouped<Data> group_by_length(Data const& data, std::vector<double> lengths, size_t batch,
                              std::uint64_t seed) {
    if (lengths.size() != data.size()) {
        throw error({"castnet: data::grouped_by_length: found ", quantity(lengths.size(), "length"),
                     ", expected one for each of the ", data.size(), " samples"});
    }
    if (batch == 0) {
        throw error("castnet: data::grouped_by_length: found batches of 0 samples, expected at "
                    "least one");
    }
    for (size_t i = 0; i < lengths.size(); ++i) {
        if (!castnet::detail::is_finite(lengths[i])) {
            throw error({"castnet: data::grouped_by_length: the length of sample ", i, " is ",
                         lengths[i], ", expected a finite number"});
        }
    }
    return {data, draw_by_length{std::move(lengths), batch, seed}};
}

} // namespace detail

// All samples once in each epoch, in a random order in which every `batch` of them, such as those
// of a step, are of similar length (torchtext's BucketIterator, tf.data's
// bucket_by_sequence_length): loops over time end after the longest sequence of a batch. `lengths`
// is a vector, an array or a tensor of numbers. fit() does not shuffle the samples again. Throws
// castnet::error unless there is a finite length for each sample, and a sample in a batch.
template <class Data, std::ranges::sized_range Lengths>
    requires(std::is_arithmetic_v<std::ranges::range_value_t<Lengths>>)
auto grouped_by_length(Data const& data, Lengths const& lengths, size_t batch,
                       std::uint64_t seed = 0) {
    std::vector<double> numbers;
    for (auto const length : lengths) {
        numbers.push_back(static_cast<double>(length));
    }
    return detail::group_by_length(data, std::move(numbers), batch, seed);
}

// The same by the lengths that are an input of the data set, read once, now:
// grouped_by_length<1>(data, 32), also of a part of a data set.
template <size_t Input, class Data>
auto grouped_by_length(Data const& data, size_t batch, std::uint64_t seed = 0) {
    static_assert(Input < Data::input_count,
                  "castnet: data::grouped_by_length<i>(data, batch): the data set has no input i");
    std::vector<double> lengths(data.size());
    if constexpr (Input < Data::input_count) {
        static_assert(Data::template input_shape<Input>::count == 1,
                      "castnet: data::grouped_by_length<i>(data, batch): input i needs to be one "
                      "number of each sample, its length, such as length_of<time>");
        for (size_t i = 0; i < lengths.size(); ++i) {
            reading_sample(i, [&] { data.template copy_input<Input>(i, &lengths[i]); });
        }
    }
    return detail::group_by_length(data, std::move(lengths), batch, seed);
}

} // namespace castnet::data
