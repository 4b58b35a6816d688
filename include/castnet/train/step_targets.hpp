// Targets of a step: what its losses compare with the outputs of the network.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/data/targets.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/output_losses.hpp>

#include <type_traits>
#include <utility>

namespace castnet {

template <class Loss>
inline constexpr bool has_labels = requires { bool{Loss::labels}; } || requires {
    typename Loss::target_shape;
} || requires { typename Loss::targets; };

// Checks as classes, so that every compiler prints their arguments. What fails one is replaced by a
// stub that compiles, so that one mistake gives one error.
template <class Loss>
struct loss_has_labels {
    static_assert(has_labels<Loss>,
                  "castnet: a loss needs static constexpr bool labels: true where its target is "
                  "a class number, false where it has the shape of the prediction; see "
                  "loss_has_labels<loss>");
    static constexpr bool checked = true;
};
template <size_t Losses, size_t Outputs>
struct loss_for_each_output {
    static_assert(Losses == Outputs, "castnet: cn::losses needs one loss for each output of the "
                                     "network; see loss_for_each_output<losses, outputs>");
    static constexpr bool checked = true;
};

template <size_t Number, size_t Outputs>
struct network_has_output {
    static_assert(Number < Outputs, "castnet: predict<number>: the network has no such output, "
                                    "counted from 0; see network_has_output<number, outputs>");
    static constexpr bool checked = Number < Outputs;
};

template <fixed_string Name, bool Found>
struct network_has_output_named {
    static_assert(Found,
                  "castnet: predict<\"name\">: the network has no output of this name; "
                  "cn::outputs<\"kind\", \"box\">(a, b) names them, and others have numbers, "
                  "predict<1>; see network_has_output_named<name, found>");
    static constexpr bool checked = true;
};

namespace detail {

template <size_t N, class List>
struct nth;
template <size_t N, class First, class... Rest>
struct nth<N, type_list<First, Rest...>> : nth<N - 1, type_list<Rest...>> {};
template <class First, class... Rest>
struct nth<0, type_list<First, Rest...>> {
    using type = First;
};
template <size_t N, class List>
using nth_of = typename nth<N, List>::type;
template <size_t Number, class Outputs>
using predicted_output =
    nth_of<network_has_output<Number, Outputs::size>::checked ? Number : 0, Outputs>;

template <class Network>
using traced_outputs = decltype(Network::trace(std::declval<ir::graph&>()));
template <class Network>
using outputs_of = typename traced_outputs<Network>::shapes;

template <class Network, fixed_string Name>
constexpr size_t output_number() {
    using outputs = traced_outputs<Network>;
    size_t number = 0;
    while (number < outputs::shapes::size && outputs::name(number) != Name.view()) {
        ++number;
    }
    return number;
}
// The number of the output of this name.
template <class Network, fixed_string Name>
constexpr size_t output_named() {
    constexpr size_t number = output_number<Network, Name>();
    constexpr bool found = number < outputs_of<Network>::size;
    static_assert(network_has_output_named<Name, found>::checked);
    return found ? number : 0;
}

// The labels of an output: a class number for a vector, for each step of a sequence (time, classes)
// or for each pixel of an image (classes, height, width).
template <class S, size_t... Axis>
constexpr auto labels_of(std::index_sequence<Axis...>) {
    constexpr size_t skipped = channels_first<S> ? 1 : 0;
    return data::label<channels_of<S>, S::extent[Axis + skipped]...>{};
}
template <class S>
constexpr auto labels_of() {
    return labels_of<S>(std::make_index_sequence<(S::rank > 1 ? S::rank - 1 : 0)>{});
}

// The target that a loss compares with an output of shape S.
template <class Loss, class S>
struct target_of {
    static constexpr auto choose() {
        if constexpr (requires { typename Loss::targets; }) {
            using listed = data::as_targets<typename Loss::targets>;
            if constexpr (listed::count == 0) {
                return S{}; // for messages: it is called with outputs only
            } else {
                return typename listed::template at<0>{};
            }
        } else if constexpr (requires { typename Loss::target_shape; }) {
            return typename Loss::target_shape{};
        } else if constexpr (!has_labels<Loss>) {
            static_assert(loss_has_labels<Loss>::checked);
            return S{};
        } else if constexpr (Loss::labels) {
            return labels_of<S>();
        } else {
            return S{};
        }
    }
    using target = decltype(choose());
    using type = data::target_shape<target>;
};

// The targets of a step. (Functions of types.)
template <class Loss, class Outputs>
constexpr auto all_targets(std::type_identity<Loss>, Outputs) {
    if constexpr (requires { typename Loss::targets; }) {
        return data::as_targets<typename Loss::targets>{};
    } else {
        return data::targets<typename target_of<Loss, nth_of<0, Outputs>>::target>{};
    }
}
template <class... Loss, class... S>
constexpr auto all_targets(std::type_identity<loss_list<Loss...>>, type_list<S...>) {
    if constexpr (sizeof...(Loss) != sizeof...(S)) {
        static_assert(loss_for_each_output<sizeof...(Loss), sizeof...(S)>::checked);
        return data::targets<S...>{};
    } else {
        return data::targets<typename target_of<Loss, S>::target...>{};
    }
}
// Whether a step's target of this number is of probabilities: see nn/loss.hpp.
template <class Loss>
constexpr bool is_of_probabilities(std::type_identity<Loss>, size_t number) {
    return number == 0 && requires { requires Loss::probabilities; };
}
template <class... Loss>
constexpr bool is_of_probabilities(std::type_identity<loss_list<Loss...>>, size_t number) {
    bool const each[]{is_of_probabilities(std::type_identity<Loss>{}, 0)..., false};
    return number < sizeof...(Loss) && each[number];
}
template <class Loss, size_t... I>
auto probabilities_among(std::index_sequence<I...>)
    -> std::integer_sequence<bool, is_of_probabilities(std::type_identity<Loss>{}, I)...>;

template <class Loss, class Outputs>
using targets_of_step = decltype(all_targets(std::type_identity<Loss>{}, Outputs{}));
// A truth value for each target.
template <class Loss, class Targets>
using probabilities_of_step =
    decltype(probabilities_among<Loss>(std::make_index_sequence<Targets::count>{}));

} // namespace detail
} // namespace castnet
