// Collation of samples: their inputs, targets and weights, copied into a step's batch memory.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/fixed_string.hpp>
#include <castnet/cpu/transpose.hpp>
#include <castnet/data/dataset.hpp>
#include <castnet/data/sample_error.hpp>
#include <castnet/graph/graph.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/plan/launch_list_builder.hpp>
#include <castnet/train/class_weight.hpp>
#include <castnet/train/sample_checks.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace castnet::detail {

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

template <class T, class Data, class... Target, bool... Probabilities, size_t... I>
void collate_targets(batch_layout const& layout, [[maybe_unused]] T* batch, Data const& data,
                     [[maybe_unused]] size_t sample, [[maybe_unused]] size_t row,
                     data::targets<Target...>, std::integer_sequence<bool, Probabilities...>,
                     std::index_sequence<I...>) {
    (place_sample<data::target_shape<Target>>(
         batch + layout.targets[I].offset + std::ptrdiff_t(row * data::target_shape<Target>::count),
         batch + layout.staging,
         [&](T* out) {
             data::copy_target<I>(data, sample, out);
             if constexpr (data::is_label<Target>) {
                 data::whole_numbers_of<Target>.check(out, sample, "castnet");
             } else if constexpr (Probabilities) {
                 check_probabilities(out, Target::count, sample);
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

// The factor of a sample's class, or the mean of those of its steps or pixels that count; 1 where
// there is none. See check_class_weight.
template <class T, class Data>
double class_factor(Data const& data, size_t sample, std::span<float const> class_weight) {
    constexpr int target = data::weighed_classes<data::targets_of<Data>>::target;
    if constexpr (target >= 0) {
        using given = typename data::targets_of<Data>::template at<size_t(target)>;
        constexpr size_t count = data::target_shape<given>::count;
        constexpr bool may_lack = data::is_label<given> && !data::labels_sample<given>;
        T one{};
        std::vector<T> several(count > 1 ? count : 0);
        T* const numbers = count > 1 ? several.data() : &one;
        data::copy_target<size_t(target)>(data, sample, numbers);
        double sum = 0;
        size_t counted = 0;
        for (size_t i = 0; i < count; ++i) {
            auto const number = double(numbers[i]);
            if (!may_lack || number != data::ignored) {
                sum += double(class_weight[checked_label(number, class_weight.size(), sample,
                                                         "castnet: class_weight")]);
                ++counted;
            }
        }
        return counted > 0 ? sum / double(counted) : 1;
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
// `padding`, with the weight 0. Inputs and Targets are the step's, whose order in memory need not
// be that of the data's shapes; Probabilities says for each target whether its numbers are such.
// Throws castnet::error for an id or label that its type does not allow, and for a probability that
// is none.
template <class Inputs, class Targets, class Probabilities, class T, class Data>
[[gnu::noinline]] batch_weight collate(batch_layout const& layout, T* batch, Data const& data,
                                       std::span<size_t const> samples, size_t rows, size_t padding,
                                       std::span<float const> class_weight,
                                       std::optional<size_t> present) {
    for (size_t row = 0; row < rows; ++row) {
        size_t const sample = row < samples.size() ? samples[row] : padding;
        data::reading_sample(sample, [&] {
            collate_inputs(layout, batch, data, sample, row, Inputs{});
            collate_targets(layout, batch, data, sample, row, Targets{}, Probabilities{},
                            std::make_index_sequence<Targets::count>{});
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

} // namespace castnet::detail
