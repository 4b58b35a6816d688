// Gradients by the images of convolutions in narrow groups (grouped_conv.hpp).
#pragma once

#include <castnet/cpu/transpose.hpp>
#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/depthwise_row.hpp>
#include <castnet/device/cpu/grouped_conv.hpp>
#include <castnet/device/cpu/joined_columns.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/sliding.hpp>
#include <castnet/device/cpu/taps.hpp>
#include <castnet/device/cpu/threads.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

// The weights of each group with channels and filters exchanged, for the gradient by the image.
template <int Group, class T>
void grouped_conv_data_prepare(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const weight = c.at(t.arrays[s.first_array + 1]);
    T* const turned = c.at(t.arrays[s.prepared]);
    std::ptrdiff_t const tap = std::ptrdiff_t{Group} * w.filters;
    for (std::ptrdiff_t first = 0; first < weight_count(w); first += tap) {
        for (std::ptrdiff_t group = first; group < first + w.filters; group += Group) {
            transpose(Group, Group, weight + group, w.filters, turned + group, w.filters);
        }
    }
}
template <int Group, class T>
void grouped_conv_data(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T* const scratch = scratch_of(s, t, c);
    grouped_weights<T> const weights{
        c.at(t.arrays[Group > 1 ? s.prepared : s.first_array + 1]), {}, w.filters};
    grouped_weights<T> const joined =
        join_columns(w, weights, w.width, scratch + widened_scratch(w));
    tap_axis const across = horizontal_axis(w);
    tap_run const row = image_run(across, 0, w.width);
    bool const in_rows = joined.filters == weights.filters && is_row(row);
    int const filters = w.filters / w.channels;
    for (std::ptrdiff_t i = 0; i < c.samples; ++i) {
        T* const dx = c.at(t.arrays[s.output]) + i * image_count(w);
        grouped_image<T const> const from{c.at(t.arrays[s.first_array]) + i * result_count(w),
                                          w.out_height, w.out_width, w.filters};
        grouped_image<T> const to{filters > 1 ? scratch : dx, w.height, w.width, w.filters};
        share_range(w.height, conv_work(w, 1), [&](std::ptrdiff_t first, std::ptrdiff_t last) {
            for_each_image_run(vertical_axis(w), int(first), int(last), [&](tap_run const& rows) {
                if constexpr (Group == 1) {
                    if (in_rows) {
                        depthwise_rows(w, rows, row, weights, from, to);
                        return;
                    }
                }
                for_each_image_run(across, 0, w.width, [&](tap_run const& columns) {
                    joined_rectangle<Group>(w, rows, columns, weights, joined, from, to);
                });
            });
        });
        if (filters > 1) {
            with_multiplier(filters, [&](auto count) {
                for (std::ptrdiff_t k = 0; k < image_count(w); ++k) {
                    T sum = 0;
                    for (int j = 0; j < count; ++j) {
                        sum += scratch[k * count + j];
                    }
                    dx[k] = sum;
                }
            });
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
