// In-memory samples as the input of predict(): a span of numbers for each input of the network.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/train/compiled_step.hpp>

#include <algorithm>
#include <concepts>
#include <span>

namespace castnet {

namespace detail {

// Samples contiguous in memory, in logical order: a data set without a target. Throws
// castnet::error unless every input holds the same number of whole samples.
template <class T, class Inputs>
class samples_in_memory;
template <class T, Shape... S>
class samples_in_memory<T, type_list<S...>> {
public:
    template <size_t I>
    using input_shape = nth_of<I, type_list<S...>>;
    static constexpr size_t input_count = sizeof...(S);

    template <std::same_as<std::span<T const>>... Inputs>
    explicit samples_in_memory(Inputs... inputs) : inputs_{inputs...} {
        for (size_t i = 0; i < input_count; ++i) {
            if (inputs_[i].size() != size() * counts[i]) {
                refuse(i, inputs_[i].size(), size());
            }
        }
    }

    size_t size() const { return inputs_[0].size() / counts[0]; }

    template <size_t I>
    void copy_input(size_t sample, T* out) const {
        std::copy_n(inputs_[I].data() + sample * counts[I], counts[I], out);
    }

private:
    static constexpr size_t counts[] = {S::count...};

    [[noreturn, gnu::cold]] static void refuse(size_t input, size_t found, size_t samples) {
        if (found % counts[input] != 0) {
            throw error({"castnet: predict: input ", input, " holds ", found,
                         " numbers, but a sample has ", counts[input],
                         "; give a whole number of samples, one after the other"});
        }
        throw error({"castnet: predict: input 0 holds ", samples, " samples, but input ", input,
                     " holds ", found / counts[input]});
    }

    std::span<T const> inputs_[sizeof...(S)];
};

template <class... Given>
inline constexpr bool is_data_set = false;
template <class Given>
inline constexpr bool is_data_set<Given> = requires { Given::input_count; };
template <class Element, class... Given>
inline constexpr bool are_spans = sizeof...(Given) > 0 &&
                                  (std::convertible_to<Given const&, std::span<Element const>> &&
                                   ...);

} // namespace detail

// Classes, so that every compiler prints their arguments.
template <class Element, class... Given>
struct predict_takes {
    static_assert(
        detail::is_data_set<Given...> || detail::are_spans<Element, Given...>,
        "castnet: predict takes a data set or, for each input of the network, the numbers "
        "of its samples: a vector, array or span of the model's element type; see "
        "predict_takes<element type, what was given...>");
    static constexpr bool checked = true;
};
template <size_t Expected, size_t Given>
struct inputs_are_given {
    static_assert(Expected == Given,
                  "castnet: predict takes the numbers of every input of the network, one argument "
                  "for each; see inputs_are_given<expected, given>");
    static constexpr bool checked = true;
};

} // namespace castnet
