// Weights in logical order, and gradients of these in the order of weights. A thread moves one
// element.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/quotient.hpp>
#include <castnet/device/weight_places.hpp>
#include <castnet/graph/op/weight_values.hpp>

#include <cstddef>
#include <cstdint>

namespace castnet::cuda {

template <class T>
struct weight_values_body {
    stored<T> from, to;
    bool to_weight;
    quotient taps, slices, channels;
    ir::weight_places places;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            auto const number = static_cast<std::uint32_t>(i);
            std::uint32_t const slice = taps.divide(number), channel = slices.divide(slice),
                                filter = channels.divide(channel);
            std::ptrdiff_t const place =
                filter * places.filter + channels.remainder(channel) * places.channel +
                slices.remainder(slice) * places.slice + taps.remainder(number) * places.tap;
            if (to_weight) {
                to[place] = from.get(i);
            } else {
                to[i] = from.get(place);
            }
        });
    }
};

// Those of convolutions lie as cuDNN reads them.
CASTNET_CALLS_UNCHECKED
template <bool ToWeight, class Context>
CASTNET_HD void move_weight(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const& to = t.arrays[s.output];
    window const& w = t.windows[s.window];
    std::ptrdiff_t const count = to.size.count();
    c.launch(grid_for(count), weight_values_body<T>{
                                  stored_at(c, t.arrays[s.first_array]), stored_at(c, to), ToWeight,
                                  quotient(w.width), quotient(w.height), quotient(w.channels),
                                  w.groups == 0 ? ir::weight_places::filters_innermost(w)
                                                : ir::weight_places::channels_innermost(w),
                                  count});
}

template <class Context>
struct kernel_for<Context, op::weight_values>
    : function_kernel<Context, &move_weight<false, Context>> {};
template <class Context>
struct kernel_for<Context, op::weight_values_gradient>
    : function_kernel<Context, &move_weight<true, Context>> {};

} // namespace castnet::cuda
