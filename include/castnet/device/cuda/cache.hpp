// Sequences that grow by a step. A thread moves one element.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/stored.hpp>

namespace castnet::cuda {

template <class T>
struct cache_body {
    stored<T> step, place, to;
    std::ptrdiff_t channels, sample; // elements of a step, and of a whole sequence
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            std::ptrdiff_t const number = i / channels,
                                 first = static_cast<std::ptrdiff_t>(place.get(number)) * channels;
            to[number * sample + first + i % channels] = step.get(i);
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void cache(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const& to = t.arrays[s.output];
    std::ptrdiff_t const channels = to.size.channels, count = c.samples * channels;
    c.launch(grid_for(count), cache_body<T>{stored_at(c, t.arrays[s.first_array]),
                                            stored_at(c, t.arrays[s.first_array + 1]),
                                            stored_at(c, to), channels, to.size.count(), count});
}

template <class Context>
struct kernel_for<Context, op::cache> : function_kernel<Context, &cache<Context>> {};

} // namespace castnet::cuda
