// Input of a network for one step of a sequence, as a program gives it.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/data/whole_numbers.hpp>
#include <castnet/train/samples_in_memory.hpp>

#include <span>
#include <type_traits>

namespace castnet {

// Classes, so that every compiler prints the types.
template <class... Given>
struct step_inputs_fit {
    static_assert(
        detail::never<Given...>,
        "castnet: stateful_predictor::predict takes one step of each input of the "
        "network: a vector, array or span of as many numbers of the model's element type as a step "
        "has, std::int32_t for ids; see step_inputs_fit<types given...>");
    static constexpr bool checked = true;
};

template <class... Given>
struct step_sequences_fit {
    static_assert(detail::never<Given...>,
                  "castnet: stateful_predictor::prefill takes some steps of each input of the "
                  "network: a span or vector of numbers of the model's element type, std::int32_t "
                  "for ids; see step_sequences_fit<types given...>");
    static constexpr bool checked = true;
};

namespace detail {

// An input of shape Input, of which a step has `Size` numbers; T is the model's element type.
template <class T, class Input, size_t Size>
struct step_input {
    using number = typename only_number<T, type_list<Input>>::type;

    // Of a size that the compiler knows, or not.
    template <class Step>
    static constexpr bool is_array =
        std::is_convertible_v<Step const&, std::span<number const, Size>>;
    template <class Step>
    static constexpr bool is_vector =
        std::is_convertible_v<Step const&, std::span<number const>> &&
        requires(Step const& x) { requires decltype(std::span{x})::extent == std::dynamic_extent; };

    template <class Step>
    static constexpr bool takes = is_array<Step> || is_vector<Step> ||
                                  (Size == 1 && std::is_convertible_v<Step const&, number>);
    // Steps one after the other.
    template <class Sequence>
    static constexpr bool takes_sequence =
        std::is_convertible_v<Sequence const&, std::span<number const>>;

    // Throws castnet::error for a vector of another size, and for an id that the input does not
    // allow; `input` is its number, for the message.
    template <class Step>
    static void write(T* to, size_t input, Step const& step) {
        if constexpr (std::is_convertible_v<Step const&, number>) {
            *to = T(number(step));
        } else {
            std::span<number const> const from = step;
            if (is_vector<Step> && from.size() != Size) {
                throw error({"castnet: stateful_predictor: a step of input ", input, " has ",
                             quantity(from.size(), "number"), ", expected ", Size});
            }
            for (size_t i = 0; i < Size; ++i) {
                to[i] = T(from[i]);
            }
        }
        constexpr data::whole_numbers ids = [] {
            auto all = data::whole_numbers_of<Input>;
            all.count = Size;
            return all;
        }();
        if constexpr (ids.values > 0) {
            ids.check(to, 0, "castnet: stateful_predictor");
        }
    }
};

} // namespace detail

} // namespace castnet
