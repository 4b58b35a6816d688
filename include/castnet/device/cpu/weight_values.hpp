// Weights in logical order, and gradients of these in the order of weights.
#pragma once

#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/weight_places.hpp>
#include <castnet/graph/op/weight_values.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// Calls move(place of an element in logical order, its place in a weight), for blocks of filters,
// which lie beside each other in the weight.
template <class Move>
void for_each_weight(ir::window const& w, Move const& move) {
    constexpr std::ptrdiff_t together = 16;
    auto const places = ir::weight_places::filters_innermost(w);
    std::ptrdiff_t const filters = w.filters, taps = w.width, slices = w.height,
                         rows = w.channels * slices * taps;
    parallel_for((filters + together - 1) / together, double(filters * rows),
                 [&](std::ptrdiff_t block) {
                     std::ptrdiff_t const first = block * together,
                                          last = std::min(first + together, filters);
                     for (std::ptrdiff_t row = 0; row < rows; ++row) {
                         std::ptrdiff_t const tap = row % taps, slice = row / taps % slices,
                                              channel = row / taps / slices;
                         std::ptrdiff_t const from =
                             channel * places.channel + slice * places.slice + tap * places.tap;
                         for (std::ptrdiff_t filter = first; filter < last; ++filter) {
                             move(filter * rows + row, from + filter);
                         }
                     }
                 });
}

template <class T>
void weight_values(kernel_launch const& s, tables const& t, context<T> const& c) {
    T const* const weight = c.at(t.arrays[s.first_array]);
    T* const values = c.at(t.arrays[s.output]);
    for_each_weight(t.windows[s.window], [=](std::ptrdiff_t logical, std::ptrdiff_t place) {
        values[logical] = weight[place];
    });
}

template <class T>
void weight_values_gradient(kernel_launch const& s, tables const& t, context<T> const& c) {
    T const* const values = c.at(t.arrays[s.first_array]);
    T* const weight = c.at(t.arrays[s.output]);
    for_each_weight(t.windows[s.window], [=](std::ptrdiff_t logical, std::ptrdiff_t place) {
        weight[place] = values[logical];
    });
}

template <class T>
struct kernel_for<T, op::weight_values> : function_kernel<T, &weight_values<T>> {};
template <class T>
struct kernel_for<T, op::weight_values_gradient> : function_kernel<T, &weight_values_gradient<T>> {
};

} // namespace castnet::cpu::inline CASTNET_TARGET
