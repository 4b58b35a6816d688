// Key and value caches of attention that is computed step by step. A thread moves one element.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/quotient.hpp>

namespace castnet::cuda {

template <class T>
struct cache_body {
    stored<T> step, place, to;
    quotient channels;     // elements of a step
    std::ptrdiff_t sample; // and of a whole sequence
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            std::uint32_t const number = channels.divide(static_cast<std::uint32_t>(i));
            auto const first = static_cast<std::ptrdiff_t>(place.get(number)) - number;
            to[number * sample + first * std::ptrdiff_t{channels.divisor} + i] = step.get(i);
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void cache(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const& to = t.arrays[s.output];
    std::ptrdiff_t const channels = to.size.channels, count = c.samples * channels;
    c.launch(grid_for(count),
             cache_body<T>{stored_at(c, t.arrays[s.first_array]),
                           stored_at(c, t.arrays[s.first_array + 1]), stored_at(c, to),
                           quotient(channels), to.size.count(), count});
}

template <class Context>
struct kernel_for<Context, op::cache> : function_kernel<Context, &cache<Context>> {};

} // namespace castnet::cuda
