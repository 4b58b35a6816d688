// Tensors as samples of a network: one of an input's shape, or several along an axis before it; and
// the shape of what is predicted for them.
#pragma once

#include <castnet/core/list.hpp>
#include <castnet/tensor/owning_tensor.hpp>
#include <castnet/train/samples_in_memory.hpp>

#include <array>
#include <tuple>
#include <utility>

namespace castnet {

// A class, so that every compiler prints the shapes.
template <bool Fits, class Input, class Given>
struct tensor_fits_input {
    static_assert(Fits, "castnet: predict: a tensor has the shape of an input of the network, one "
                        "sample, or an axis of samples before it, as many for each input; see "
                        "tensor_fits_input<fits, input, given>");
    static constexpr bool checked = true;
};

namespace detail {

// The samples in a tensor of shape Given: 0 for a single one without an axis of samples, -1 if it
// does not fit.
template <class Input, class Given>
constexpr std::ptrdiff_t samples_along_axis() {
    if (Given::rank != Input::rank && Given::rank != Input::rank + 1) {
        return -1;
    }
    constexpr size_t before = Given::rank == Input::rank ? 0 : 1;
    for (size_t axis = 0; axis != Input::rank; ++axis) {
        if (Given::extent[(axis + before) % (Given::rank + 1)] != Input::extent[axis]) {
            return -1;
        }
    }
    return before == 0 ? 0 : static_cast<std::ptrdiff_t>(Given::extent[0]);
}

template <class S, size_t... Axis>
auto plain_shape(std::index_sequence<Axis...>) -> shape<S::extent[Axis]...>;
template <class S, size_t Samples, size_t... Axis>
auto with_samples(std::index_sequence<Axis...>) -> shape<Samples, S::extent[Axis]...>;

// The shape of an output for this many samples.
template <class Output, std::ptrdiff_t Samples>
auto predicted_shape() {
    constexpr auto axes = std::make_index_sequence<Output::rank>{};
    if constexpr (Samples > 0) {
        return decltype(with_samples<Output, size_t(Samples)>(axes)){};
    } else {
        return decltype(plain_shape<Output>(axes)){};
    }
}

template <class Inputs, class... Given>
inline constexpr std::ptrdiff_t samples_of_tensors = -1;
template <class First, class... More, class Given, class... Others>
    requires(sizeof...(More) == sizeof...(Others))
inline constexpr std::ptrdiff_t samples_of_tensors<type_list<First, More...>, Given, Others...> =
    [] {
        constexpr std::ptrdiff_t samples = samples_along_axis<First, Given>();
        static_assert(tensor_fits_input<samples >= 0, First, Given>::checked);
        static_assert((tensor_fits_input < samples_along_axis<More, Others>() == samples, More,
                       Others > ::checked && ...));
        return samples;
    }();

// The elements of x row after row in memory: x itself, or a tensor of its value.
template <class X>
decltype(auto) elements_in_rows(X const& x) {
    if constexpr (requires { x.data(); } && X::is_flat) {
        return (x);
    } else {
        return evaluate(x);
    }
}

// Outputs of the network that a call predicts with, for samples in tensors: a tensor, or a tuple
// of them.
template <class Model, class Call, size_t... Outputs, class... X>
auto predict_tensors(Call const& call, std::index_sequence<Outputs...> outputs,
                     X const&... inputs) {
    using T = typename Model::value_type;
    using all_inputs = typename Model::network_type::inputs;
    static_assert(inputs_are_given<all_inputs::size, sizeof...(X)>::checked);
    constexpr std::ptrdiff_t samples = samples_of_tensors<all_inputs, typename X::shape_type...>;
    std::tuple results{
        tensor<T, decltype(predicted_shape<predicted_output<Outputs, typename Model::output_shapes>,
                                           samples>())>::empty()...};
    auto const to = std::apply([](auto&... one) { return std::array{one.data()...}; }, results);
    call->predict_to(outputs, to, elements_in_rows(inputs)...);
    if constexpr (sizeof...(Outputs) == 1) {
        return std::get<0>(std::move(results));
    } else {
        return results;
    }
}

} // namespace detail
} // namespace castnet
