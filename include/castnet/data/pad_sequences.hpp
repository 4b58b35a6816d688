// Sequences of different lengths as columns of a data set: cut or filled up to the same number of
// steps (Keras' pad_sequences).
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/core/shape.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace castnet::data {

// The first steps of a sequence or its last ones.
enum class sequence_end : unsigned char { front, back };

// Keras fills up and cuts at the front unless told; here it is the back, since lengths count from
// the first step.
struct padding_options {
    sequence_end padding = sequence_end::back;    // where steps are added,
    sequence_end truncating = sequence_end::back; // and where sequences that are too long are cut
    double value = 0;                             // of what is added
};

namespace detail {

template <class Number>
[[gnu::noinline]] Number padding_of(double value) {
    using limits = std::numeric_limits<Number>;
    bool fits = true;
    if constexpr (limits::is_integer) {
        double const end = std::ldexp(1.0, limits::digits);
        fits = value >= (limits::is_signed ? -end : 0) && value < end && std::trunc(value) == value;
    } else {
        fits = !castnet::detail::is_finite(value) ||
               std::abs(value) <= static_cast<double>(limits::max());
    }
    if (!fits) {
        throw error({"castnet: data::pad_sequences: the value is ", value, ", expected ",
                     limits::is_integer ? "a whole number" : "one", " from ",
                     static_cast<double>(limits::lowest()), " to ",
                     static_cast<double>(limits::max()), ", as the sequences hold"});
    }
    return static_cast<Number>(value);
}

} // namespace detail

template <class Number>
struct padded_sequences {
    std::vector<Number> values;        // of all samples, one after the other
    std::vector<std::int32_t> lengths; // of each sample: its own steps, at most Time
};

// Sequences are vectors of whole numbers (ids) or real ones, with Features numbers for each step.
//     auto const [words, lengths] = pad_sequences<200>(texts);
//     dataset<label<2>, ids<20'000, 200>, length_of<200>> data{words, lengths, labels};
// Throws castnet::error for a sequence that is no whole number of steps, and for a value that is
// not of the sequences' type.
template <size_t Time, size_t Features = 1, class Sequences>
auto pad_sequences(Sequences const& sequences, padding_options const& options = {}) {
    static_assert(Time > 0 && Features > 0,
                  "castnet: pad_sequences<time, features> needs at least one step and one number "
                  "of each");
    using sequence = std::remove_cvref_t<decltype(*std::begin(sequences))>;
    using number = std::remove_cvref_t<decltype(*std::begin(std::declval<sequence const&>()))>;
    auto const value = detail::padding_of<number>(options.value);
    padded_sequences<number> all;
    for (auto const& s : sequences) {
        size_t const found = static_cast<size_t>(std::distance(std::begin(s), std::end(s)));
        if (found % Features != 0) {
            throw error({"castnet: data::pad_sequences: sequence ", all.lengths.size(), " holds ",
                         quantity(found, "number"), ", expected a multiple of ", Features,
                         ", the numbers of a step"});
        }
        size_t const steps = std::min(found / Features, Time);
        bool const keeps_end = options.truncating == sequence_end::front;
        auto const first = std::begin(s) + static_cast<std::ptrdiff_t>(
                                               keeps_end ? found - steps * Features : size_t{0});
        auto const fill = [&] {
            all.values.insert(all.values.end(), (Time - steps) * Features, value);
        };
        if (options.padding == sequence_end::front) {
            fill();
        }
        all.values.insert(all.values.end(), first,
                          first + static_cast<std::ptrdiff_t>(steps * Features));
        if (options.padding == sequence_end::back) {
            fill();
        }
        all.lengths.push_back(static_cast<std::int32_t>(steps));
    }
    return all;
}

} // namespace castnet::data
