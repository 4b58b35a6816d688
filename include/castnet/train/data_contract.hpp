// Contract between a network and a data set, checked while compiling: the shapes of the inputs and
// the kinds of the targets.
#pragma once

#include <castnet/core/shape.hpp>
#include <castnet/data/dataset.hpp>
#include <castnet/nn/network.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace castnet {

template <class Expected, class Given>
inline constexpr bool inputs_fit = std::is_same_v<Expected, Given>;
template <class Expected, class Given>
inline constexpr bool target_fits = std::is_same_v<logical_shape<Expected>, logical_shape<Given>>;

// Classes, so that every compiler prints their arguments.
template <size_t Number, class Expected, class Given>
struct target_number_fits {
    static_assert(target_fits<Expected, Given>,
                  "castnet: a target of the data set is of another kind than the loss compares "
                  "the output with; see target_number_fits<number, expected, given>");
    static constexpr bool checked = true;
};
template <size_t Expected, size_t Given>
struct target_count_fits {
    static_assert(Expected == Given,
                  "castnet: the data set has another number of targets than the loss compares "
                  "with; see target_count_fits<expected, given>");
    static constexpr bool checked = true;
};
template <size_t Outputs, size_t Classes>
struct outputs_and_classes {
    static_assert(Outputs == Classes,
                  "castnet: the network needs as many outputs as the labels have classes: its last "
                  "layer needs one unit for each class; see "
                  "outputs_and_classes<outputs, classes>");
    static constexpr bool checked = true;
};
template <bool HoldsLabels, size_t Numbers>
struct data_holds_labels {
    static_assert(HoldsLabels,
                  "castnet: the loss or metric takes class numbers, but the data set holds numbers "
                  "for each sample: with one-hot targets or probabilities use "
                  "cn::categorical_cross_entropy and cn::categorical_accuracy; see "
                  "data_holds_labels<false, numbers of a sample>");
    static constexpr bool checked = true;
};

namespace detail {

template <class Data, size_t... I>
auto input_shapes(std::index_sequence<I...>)
    -> type_list<logical_shape<typename Data::template input_shape<I>>...>;

template <class... S>
auto logical_shapes(type_list<S...>) -> type_list<logical_shape<S>...>;

template <class Network, class Data>
constexpr void check_inputs() {
    using expected = decltype(logical_shapes(typename Network::inputs{}));
    using given = decltype(input_shapes<Data>(std::make_index_sequence<Data::input_count>{}));
    static_assert(inputs_fit<expected, given>,
                  "castnet: the inputs of the data set do not have the shapes of the network's "
                  "inputs; see inputs_fit<expected, given>");
}

template <class Expected, class Given>
struct target_kind {
    static_assert(target_fits<Expected, Given>,
                  "castnet: the loss compares its prediction with another kind of target than the "
                  "data set holds; see target_fits<expected, given>");
    static constexpr bool checked = true;
};
template <size_t Outputs, size_t Classes>
struct target_kind<data::label<Outputs>, data::label<Classes>>
    : outputs_and_classes<Outputs, Classes> {};
template <size_t Outputs, size_t Classes, size_t... D>
    requires(sizeof...(D) > 0)
struct target_kind<data::label<Outputs, D...>, data::label<Classes, D...>>
    : outputs_and_classes<Outputs, Classes> {};
template <size_t Outputs>
struct target_kind<data::label<Outputs>, shape<Outputs>>
    : data_holds_labels<Outputs == 0, Outputs> {};

template <class Expected, class Given, size_t... I>
constexpr void check_each_target(std::index_sequence<I...>) {
    static_assert((target_number_fits<I, typename Expected::template at<I>,
                                      typename Given::template at<I>>::checked &&
                   ...));
}
template <class Expected, class Given>
constexpr void check_targets() {
    if constexpr (Expected::count == 1 && Given::count == 1) {
        static_assert(target_kind<typename Expected::template at<0>,
                                  typename Given::template at<0>>::checked);
    } else if constexpr (Expected::count != Given::count) {
        static_assert(target_count_fits<Expected::count, Given::count>::checked);
    } else {
        check_each_target<Expected, Given>(std::make_index_sequence<Expected::count>{});
    }
}

} // namespace detail
} // namespace castnet
