// Samples that a device keeps: their bytes or numbers, and whether it can change them in each
// epoch.
#pragma once

#include <castnet/data/column.hpp>
#include <castnet/data/epoch.hpp>
#include <castnet/data/targets.hpp>
#include <castnet/train/collate.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace castnet::detail {

// A data set whose samples lie in columns.
template <class Data>
concept HasColumns = requires(Data const& data) {
    data.template column_of<0>();
    data.number_in_columns(size_t{0});
};
// The column of input I, or of target I - input_count; nullptr if it has no bytes.
template <size_t I, class Data>
data::column const* byte_column(Data const& data) {
    if constexpr (HasColumns<Data>) {
        data::column const& c = data.template column_of<I>();
        return c.bytes() ? &c : nullptr;
    } else {
        return nullptr;
    }
}
template <size_t I, class Data, class T>
void copy_numbers(Data const& data, size_t sample, T* out) {
    if constexpr (I < Data::input_count) {
        data.template copy_input<I>(sample, out);
        check_ids<typename Data::template input_shape<I>, I>(out, sample);
    } else {
        data::copy_target<I - Data::input_count>(data, sample, out);
    }
}

// Whether a device can change the images of a data set in each epoch, from a copy of what the data
// set is made of.
template <class Data>
constexpr bool draws_images() {
    if constexpr (requires(Data const& data) { data.drawn_for(size_t{0}); }) {
        using drawn = decltype(std::declval<Data>().drawn_for(0));
        using base = std::remove_cvref_t<decltype(std::declval<Data>().base())>;
        return std::tuple_size_v<drawn> > 0 && !data::ReadByEpochs<base>;
    } else {
        return false;
    }
}

// Whether a device can mix the samples of a data set in each epoch, from a copy of those that it is
// made of, whose images may be drawn there.
template <class Data>
constexpr bool mixes_samples() {
    if constexpr (requires(Data const& data) { data.mixture_for(size_t{0}); }) {
        using base = std::remove_cvref_t<decltype(std::declval<Data>().base())>;
        return draws_images<base>() || !data::ReadByEpochs<base>;
    } else {
        return false;
    }
}
// And changes array I by it.
template <size_t I, class Data>
constexpr bool mixes_array() {
    return I == 0 || I >= Data::input_count || !Data::cuts_images;
}

} // namespace castnet::detail
