// Steps of a sequence in the order of a scan: forward or backward, all of them or by lengths.
#pragma once

#include <castnet/graph/symbol_operators.hpp>

namespace castnet {

// Whether S is a sequence of vectors, (time, features), or of numbers, (time).
template <class S>
inline constexpr bool is_sequence = S::rank == 1 || S::rank == 2;
// Or of images, (channels, time, height, width).
template <class S>
inline constexpr bool is_image_sequence = S::rank == 4;

// A sequence, and how a scan goes through it.
template <Shape S>
struct time_steps {
    using shape_type = S;
    symbol<S> values;
    bool backward = false;     // from the last step to the first
    symbol<shape<>> lengths{}; // if given: the steps of each sample that count
};
template <class S>
time_steps(symbol<S>) -> time_steps<S>;

template <class X>
inline constexpr bool is_time_steps = false;
template <class S>
inline constexpr bool is_time_steps<time_steps<S>> = true;

// Argument of a layer: a tensor, or a sequence with the order of its steps.
template <class X>
concept LayerInput = Symbol<X> || is_time_steps<X>;

// A class, so that every compiler prints the shape.
template <class S>
struct is_a_length {
    static constexpr bool checked = S::count == 1;
    static_assert(checked, "castnet: with_lengths takes one number of each sample, such as an "
                           "input_length<steps>, which is checked; see is_a_length<shape found>");
};

namespace detail {

template <class S>
constexpr time_steps<S> steps_of(symbol<S> x) {
    return {x};
}
template <class S>
constexpr time_steps<S> steps_of(time_steps<S> x) {
    return x;
}

} // namespace detail

// The same sequence from its last step to its first. Results lie where their step is in the
// sequence: the first that is computed comes last. (Keras' go_backwards turns them around.)
template <LayerInput X>
constexpr auto backward(X x) {
    auto steps = detail::steps_of(x);
    steps.backward = !steps.backward;
    return steps;
}

// The same sequence with only as many steps of each sample as `lengths` says, from 0 to all: after
// them, carries stay as they are and outputs are 0. In a backward scan the steps that count begin
// with the last of them. (Keras' masks, PyTorch's pack_padded_sequence.)
template <LayerInput X, Symbol Lengths>
constexpr auto with_lengths(X x, Lengths lengths) {
    auto steps = detail::steps_of(x);
    if constexpr (is_a_length<typename Lengths::shape_type>::checked) {
        steps.lengths = {lengths.g, lengths.id};
    }
    return steps;
}

// A class, so that every compiler prints the type.
template <class Layer>
struct layer_takes_steps {
    static_assert(detail::never<Layer>,
                  "castnet: with_lengths(x, lengths) and backward(x) are for recurrent layers and "
                  "scan; other layers come before: with_lengths(x | cn::dense<8>, lengths) | "
                  "cn::lstm<16>; see layer_takes_steps<layer>");
};

template <Shape S, class Layer>
constexpr auto operator|(time_steps<S> x, Layer const& layer) {
    if constexpr (AppliesTo<Layer, time_steps<S>>) {
        return layer(x);
    } else {
        void(layer_takes_steps<Layer>{});
        return x.values | layer;
    }
}

} // namespace castnet
