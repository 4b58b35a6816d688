// In-memory samples as the input of predict(): a span of numbers for each input of the network.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/train/compiled_step.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace castnet {

namespace detail {

// Samples contiguous in memory, in logical order: a data set without a target. Throws
// castnet::error unless every input holds the same number of whole samples. Number: the type of
// each input's numbers.
template <class Inputs, class... Number>
class samples_in_memory;
template <Shape... S, class... Number>
class samples_in_memory<type_list<S...>, Number...> {
public:
    template <size_t I>
    using input_shape = nth_of<I, type_list<S...>>;
    static constexpr size_t input_count = sizeof...(S);

    explicit samples_in_memory(std::span<Number const>... inputs) : inputs_{inputs...} {
        size_t const found[] = {inputs.size()...};
        for (size_t i = 0; i < input_count; ++i) {
            if (found[i] != size() * counts[i]) {
                refuse(i, found[i], size());
            }
        }
    }

    size_t size() const { return std::get<0>(inputs_).size() / counts[0]; }

    template <size_t I, class T>
    void copy_input(size_t sample, T* out) const {
        auto const* const from = std::get<I>(inputs_).data() + sample * counts[I];
        std::transform(from, from + counts[I], out, [](auto x) { return static_cast<T>(x); });
    }

private:
    static constexpr size_t counts[] = {S::count...};

    [[noreturn, gnu::cold]] static void refuse(size_t input, size_t found, size_t samples) {
        if (found % counts[input] != 0) {
            throw error({"castnet: predict: input ", input, " holds ", quantity(found, "number"),
                         ", but a sample has ", counts[input],
                         "; give a whole number of samples, one after the other"});
        }
        throw error({"castnet: predict: input 0 holds ", quantity(samples, "sample"),
                     ", but input ", input, " holds ", found / counts[input]});
    }

    std::tuple<std::span<Number const>...> inputs_;
};

template <class... Given>
inline constexpr bool is_data_set = false;
template <class Given>
inline constexpr bool is_data_set<Given> = requires { Given::input_count; };

// The type of the numbers that a vector, array or span holds; void for anything else.
template <class Given>
struct span_number {
    using type = void;
};
template <class Given>
    requires requires(Given const& given) { std::span{given}; }
struct span_number<Given> {
    using type = typename decltype(std::span{std::declval<Given const&>()})::value_type;
};
template <class Given>
using number_of_span = typename span_number<Given>::type;

// Whether what was given is the numbers of an input: whole ones of any type for ids.
template <class Element, class Given, class S>
inline constexpr bool is_input_of = is_ids<S> ? std::integral<number_of_span<Given>>
                                              : std::is_same_v<number_of_span<Given>, Element>;
template <class Element, class Inputs, class... Given>
inline constexpr bool are_inputs = (std::is_same_v<number_of_span<Given>, Element> && ...);
template <class Element, class... S, class... Given>
    requires(sizeof...(S) == sizeof...(Given))
inline constexpr bool are_inputs<Element, type_list<S...>, Given...> =
    (is_input_of<Element, Given, S> && ...);

// The type of the numbers of a network's only input.
template <class Element, class Inputs>
struct only_number {
    using type = Element;
};
template <class Element, size_t Values, size_t... D>
struct only_number<Element, type_list<ids<Values, D...>>> {
    using type = std::int32_t;
};

} // namespace detail

// Classes, so that every compiler prints their arguments.
template <class Element, class... Given>
struct predict_takes {
    static_assert(
        detail::never<Given...>,
        "castnet: predict takes a data set or, for each input of the network, the numbers "
        "of its samples: a vector, array or span of the model's element type, or of whole numbers "
        "for input_ids and input_length; see predict_takes<element type, what was given...>");
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
