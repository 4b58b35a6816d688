// Concept of a data set: the members that fit(), evaluate() and predict() need.
#pragma once

#include <castnet/core/shape.hpp>

#include <concepts>

namespace castnet::data {

// T: the type of the policy's numbers.
template <class Data, class T = float>
concept Dataset = requires(Data const& data, size_t sample, T* to) {
    typename Data::target_type;
    typename Data::template input_shape<0>;
    { Data::input_count } -> std::convertible_to<size_t>;
    { data.size() } -> std::convertible_to<size_t>;
    data.template copy_input<0>(sample, to);
};

// A class, so that every compiler prints the type.
template <class Data, class T = float>
struct is_dataset {
    static_assert(
        Dataset<Data, T>,
        "castnet: this is not a data set; if cn::data::mnist or fashion_mnist has returned it, "
        "take its .train or .test; a class of your own needs target_type, input_shape<I>, "
        "input_count, size, copy_input<I> and copy_target; see is_dataset<type>");
    static constexpr bool checked = true;
};

} // namespace castnet::data
