// Collation of samples: their inputs, targets and weights, copied into a step's batch memory.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/cpu/transpose.hpp>
#include <castnet/data/dataset.hpp>
#include <castnet/data/sample_error.hpp>
#include <castnet/graph/graph.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/plan/launch_list_builder.hpp>
#include <castnet/train/sample_checks.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace castnet {

template <class Expected, class Given>
inline constexpr bool inputs_fit = std::is_same_v<Expected, Given>;
template <class Expected, class Given>
inline constexpr bool target_fits = std::is_same_v<Expected, Given>;

// Classes, so that every compiler prints their arguments.
template <size_t Number, class Expected, class Given>
struct target_number_fits {
    static_assert(std::is_same_v<Expected, Given>,
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
    -> type_list<typename Data::template input_shape<I>...>;

template <class Network, class Data>
constexpr void check_inputs() {
    using given = decltype(input_shapes<Data>(std::make_index_sequence<Data::input_count>{}));
    static_assert(inputs_fit<typename Network::inputs, given>,
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

// Writes one input or target of one sample as it lies in memory. copy(to) writes the elements in
// logical order, into `staging` if they lie in another one.
template <Shape S, class T, class Copy>
void place_sample(T* out, T* staging, Copy const& copy) {
    constexpr ir::extents size = ir::space_of<S>;
    if constexpr (!size.in_logical_order()) {
        copy(staging);
        cpu::transpose<T>(size.channels, size.pixels, staging, size.pixels, out, size.channels);
    } else {
        copy(out);
    }
}

// Reads one output of one sample back into logical order.
template <Shape S, class T>
void read_sample(T const* from, T* logical) {
    constexpr ir::extents size = ir::space_of<S>;
    if constexpr (!size.in_logical_order()) {
        cpu::transpose<T>(size.pixels, size.channels, from, size.channels, logical, size.pixels);
    } else {
        std::copy_n(from, S::count, logical);
    }
}

// Layout of region::batch. Independent of the plan's type, so that collate() is compiled once.
struct batch_layout {
    ir::array_ref const *inputs, *targets;
    std::ptrdiff_t weights, sample_mask, present, staging;
};
template <class Plan>
constexpr batch_layout batch_layout_of(Plan const& p) {
    return {p.inputs, p.targets, p.weights, p.sample_mask, p.present, p.staging};
}

// Throws castnet::error unless the ids of input I are such as its shape S allows.
template <class S, size_t I, class T>
void check_ids([[maybe_unused]] T const* found, [[maybe_unused]] size_t sample) {
    if constexpr (is_ids<S>) {
        static constexpr auto context = numbered<"castnet: input ", I>();
        data::whole_numbers_of<S>.check(found, sample, context.view());
    }
}

template <class T, class Data, Shape... S, size_t... I>
void collate_inputs(batch_layout const& layout, T* batch, Data const& data, size_t sample,
                    size_t row, type_list<S...>, std::index_sequence<I...>) {
    (place_sample<S>(batch + layout.inputs[I].offset + std::ptrdiff_t(row * S::count),
                     batch + layout.staging,
                     [&](T* out) {
                         data.template copy_input<I>(sample, out);
                         check_ids<S, I>(out, sample);
                     }),
     ...);
}

template <class T, class Data, Shape... S>
void collate_inputs(batch_layout const& layout, T* batch, Data const& data, size_t sample,
                    size_t row, type_list<S...> inputs) {
    collate_inputs(layout, batch, data, sample, row, inputs,
                   std::make_index_sequence<sizeof...(S)>{});
}

template <class T, class Data, class... Target, size_t... I>
void collate_targets(batch_layout const& layout, T* batch, Data const& data, size_t sample,
                     size_t row, data::targets<Target...>, std::index_sequence<I...>) {
    (place_sample<data::target_shape<Target>>(
         batch + layout.targets[I].offset + std::ptrdiff_t(row * data::target_shape<Target>::count),
         batch + layout.staging,
         [&](T* out) {
             data::copy_target<I>(data, sample, out);
             if constexpr (data::is_label<Target>) {
                 data::whole_numbers_of<Target>.check(out, sample, "castnet");
             }
         }),
     ...);
}

// Weight of samples in a step.
struct batch_weight {
    double sum = 0;
    size_t present = 0; // samples whose weight is not 0
};

// A sample's weight in the data set; 1 if that has no weights.
template <class Data>
double own_weight([[maybe_unused]] Data const& data, [[maybe_unused]] size_t sample) {
    if constexpr (requires { data.weight(sample); }) {
        return double(data.weight(sample));
    } else {
        return 1;
    }
}

// The factor of a sample's class, by the only label among its targets; see check_class_weight.
template <class T, class Data>
double class_factor(Data const& data, size_t sample, std::span<float const> class_weight) {
    constexpr int label = data::targets_of<Data>::only_label;
    if constexpr (label >= 0) {
        T number{};
        data::copy_target<size_t(label)>(data, sample, &number);
        return double(class_weight[checked_label(double(number), class_weight.size(), sample)]);
    }
    return 1;
}

// A sample's weight with its class's factor. Throws castnet::error if it is not valid.
template <class T, class Data>
double weight_of(Data const& data, size_t sample, std::span<float const> class_weight) {
    return data::reading_sample(sample, [&] {
        double const weight = checked_weight(own_weight(data, sample), sample);
        return class_weight.empty() ? weight : weight * class_factor<T>(data, sample, class_weight);
    });
}

// The weight of samples, also of other replicas' ones.
template <class T, class Data>
batch_weight weigh(Data const& data, std::span<size_t const> samples,
                   std::span<float const> class_weight) {
    batch_weight all;
    for (size_t sample : samples) {
        double const weight = weight_of<T>(data, sample, class_weight);
        all.sum += weight;
        all.present += weight > 0;
    }
    return all;
}

// Writes the weights of `count` samples, weight_at(row), and 0 for the rows after them. `present`
// counts the samples of all replicas, if there are several.
template <class T, class WeightAt>
batch_weight collate_weights(batch_layout const& layout, T* batch, size_t count, size_t rows,
                             std::optional<size_t> present, WeightAt const& weight_at) {
    batch_weight mine;
    T* const weights = batch + layout.weights;
    for (size_t row = 0; row < rows; ++row) {
        double const weight = row < count ? weight_at(row) : 0;
        weights[row] = T(weight);
        mine.sum += weight;
        mine.present += weight > 0;
    }
    size_t const all = present.value_or(mine.present);
    T const share = T(1) / T(all);
    T* const sample_mask = batch + layout.sample_mask;
    for (size_t row = 0; row < rows; ++row) {
        sample_mask[row] = weights[row] > 0 ? share : T(0);
    }
    batch[layout.present] = T(all);
    return mine;
}

// Fills `rows` rows of region::batch at `batch`; those after the samples hold the sample
// `padding`, with the weight 0. Throws castnet::error for an id or label that its type does not
// allow.
template <class Inputs, class T, class Data>
[[gnu::noinline]] batch_weight collate(batch_layout const& layout, T* batch, Data const& data,
                                       std::span<size_t const> samples, size_t rows, size_t padding,
                                       std::span<float const> class_weight,
                                       std::optional<size_t> present) {
    using targets = data::targets_of<Data>;
    for (size_t row = 0; row < rows; ++row) {
        size_t const sample = row < samples.size() ? samples[row] : padding;
        data::reading_sample(sample, [&] {
            collate_inputs(layout, batch, data, sample, row, Inputs{});
            collate_targets(layout, batch, data, sample, row, targets{},
                            std::make_index_sequence<targets::count>{});
        });
    }
    return collate_weights(layout, batch, samples.size(), rows, present, [&](size_t row) {
        return weight_of<T>(data, samples[row], class_weight);
    });
}

// The same for a device-resident data set: writes the samples' indices only.
template <class T, class Data>
[[gnu::noinline]] batch_weight
collate_indices(batch_layout const& layout, T* batch, std::uint32_t* numbers, Data const& data,
                std::span<size_t const> samples, size_t rows, size_t padding,
                std::span<float const> class_weight, std::optional<size_t> present) {
    for (size_t row = 0; row < rows; ++row) {
        size_t const sample = row < samples.size() ? samples[row] : padding;
        if (sample >= data.size()) {
            throw error({"castnet: a step was given sample number ", sample,
                         " of a data set that holds ", data.size()});
        }
        numbers[row] = static_cast<std::uint32_t>(sample);
    }
    return collate_weights(layout, batch, samples.size(), rows, present, [&](size_t row) {
        return weight_of<T>(data, samples[row], class_weight);
    });
}

} // namespace detail
} // namespace castnet
