// Class numbers as labels: one of each prediction, or of each of its steps or pixels.
#pragma once

#include <castnet/data/label.hpp>
#include <castnet/graph/op/rearrange.hpp>
#include <castnet/graph/op/reduce.hpp>
#include <castnet/graph/op/source.hpp>

#include <type_traits>

namespace castnet {

// The class numbers of a prediction's steps or pixels.
template <class Labels, class S>
concept LabelsOf =
    is_ids<Labels> && Labels::values == channels_of<S> && Labels::count == pixels_of<S>;
// Or the class number of a prediction that is a vector.
template <class Label, class S>
concept LabelOf = LabelsOf<Label, S> || (S::rank == 1 && std::is_same_v<Label, shape<>>);

namespace detail {

// 0, 1, 2, … for each channel of S, to be compared with a label beside S.
template <Shape S>
constexpr auto channel_numbers(ir::graph& g) {
    return along_channels<S>(channel_index<shape<channels_of<S>>>(g));
}

// A number for each step or pixel of S as a tensor with S's axes and one channel.
template <Shape S, Shape Numbers>
constexpr auto beside(symbol<Numbers> x) {
    if constexpr (Numbers::count == 1) {
        return symbol<shape<>>{x.g, x.id};
    } else {
        return reshaped(x, with_channels<S, 1>{});
    }
}

// The numbers of steps or pixels in the shape of their labels, with which they combine.
template <Shape Labels, Shape S>
constexpr auto shaped_as(symbol<Labels> label, symbol<S> x) {
    using numbers = typename decltype(greater_equal(label, 0))::shape_type;
    if constexpr (std::is_same_v<S, numbers>) {
        return x;
    } else {
        return reshaped(x, numbers{});
    }
}

// 1 where a label counts, 0 where it is data::ignored: class numbers are not negative.
template <class S>
constexpr auto counts(symbol<S> label) {
    return greater_equal(label, 0);
}

// The sum of a value over the steps or pixels that count.
template <class S, class Labels>
constexpr auto sum_of_counted(symbol<S> value, symbol<Labels> label) {
    return sum(where(counts(label), value, 0));
}

// The mean of a value over those of the steps or pixels of S that count; the value itself where S
// is a vector, which has one label.
template <Shape S, class Value, class Label>
constexpr auto mean_over_labels(symbol<Value> value, symbol<Label> label) {
    if constexpr (std::is_same_v<Label, shape<>>) {
        return value;
    } else {
        auto const number = beside<S>(label);
        return sum_of_counted(value, number) / maximum(sum(counts(number)), 1);
    }
}

} // namespace detail

} // namespace castnet
