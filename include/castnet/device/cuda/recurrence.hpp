// Delays and feedbacks of loops over time. A thread moves one element.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/row_numbers.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/quotient.hpp>

namespace castnet::cuda {

// Rows of `to`, `to_step` elements apart, from those of `from`; 0 where there is no such array.
template <class T>
struct copy_rows_body {
    stored<T> from, to;
    std::ptrdiff_t from_first, from_step, to_first, to_step; // elements
    quotient channels;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            std::uint32_t const row = channels.divide(static_cast<std::uint32_t>(i)),
                                channel = static_cast<std::uint32_t>(i) - row * channels.divisor;
            to[to_first + row * to_step + channel] =
                from ? from.get(from_first + row * from_step + channel) : T(0);
        });
    }
};

// The first step of a sequence: its operand, or 0 where it has none.
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void delay(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const& to = t.arrays[s.output];
    std::ptrdiff_t const channels = to.size.channels, count = c.samples * channels;
    std::ptrdiff_t const first = (s.attribute < 0 ? to.size.pixels - 1 : 0) * channels;
    stored<T> const from =
        s.arrays > 0 ? stored_at(c, t.arrays[s.first_array]) : stored<T>{nullptr, false};
    c.launch(grid_for(count), copy_rows_body<T>{from, stored_at(c, to), 0, channels, first,
                                                to.size.count(), quotient(channels), count});
}

// This step of the operand becomes the next one of the result.
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void feedback(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    std::ptrdiff_t const next = c.iteration + (s.attribute < 0 ? -1 : 1);
    if (next < 0 || next == s.space.pixels) {
        return;
    }
    std::ptrdiff_t const channels = to.size.channels, count = c.samples * channels;
    pixel_rows const read = rows_of(from.size, c), written = rows_of(to.size, c, next);
    c.launch(grid_for(count),
             copy_rows_body<T>{stored_at(c, from), stored_at(c, to), read.first * channels,
                               read.step * channels, written.first * channels,
                               written.step * channels, quotient(channels), count});
}

template <class Context>
struct kernel_for<Context, op::delay> : function_kernel<Context, &delay<Context>> {};
template <class Context>
struct kernel_for<Context, op::feedback> : function_kernel<Context, &feedback<Context>> {};

} // namespace castnet::cuda
