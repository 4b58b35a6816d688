// All numbers of a sample in a row: its inputs, then its targets.
#pragma once

#include <castnet/data/targets.hpp>

namespace castnet::data::detail {

template <class Data>
struct sample_row {
    using targets = targets_of<Data>;
    template <size_t I>
    static constexpr size_t input_size = Data::template input_shape<I>::count;
    template <size_t I>
    static constexpr size_t target_size = target_shape<typename targets::template at<I>>::count;

    // Where those of an input and of a target begin.
    static constexpr size_t first_input(size_t number) {
        return []<size_t... I>(size_t end, std::index_sequence<I...>) {
            return ((I < end ? input_size<I> : 0) + ... + 0);
        }(number, std::make_index_sequence<Data::input_count>{});
    }
    static constexpr size_t first_target(size_t number) {
        return first_input(Data::input_count) +
               []<size_t... I>(size_t end, std::index_sequence<I...>) {
                   return ((I < end ? target_size<I> : 0) + ... + 0);
               }(number, std::make_index_sequence<targets::count>{});
    }
    static constexpr size_t inputs = first_input(Data::input_count); // numbers of all inputs
    static constexpr size_t count = first_target(targets::count);

    static void read(Data const& data, size_t sample, float* to) {
        [&]<size_t... I>(std::index_sequence<I...>) {
            (data.template copy_input<I>(sample, to + first_input(I)), ...);
        }(std::make_index_sequence<Data::input_count>{});
        [&]<size_t... I>(std::index_sequence<I...>) {
            (data::copy_target<I>(data, sample, to + first_target(I)), ...);
        }(std::make_index_sequence<targets::count>{});
    }
};

} // namespace castnet::data::detail
