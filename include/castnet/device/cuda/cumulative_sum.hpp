// Sums of the channels so far, added up in double. A thread computes those of a row.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/stored.hpp>

#include <cstddef>

namespace castnet::cuda {

template <class T>
struct cumulative_sum_body {
    stored<T> from, to;
    int width, step; // 1, or -1 from the last channel on
    std::ptrdiff_t rows;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, rows, [&](std::ptrdiff_t row) {
            std::ptrdiff_t place = row * width + (step > 0 ? 0 : width - 1);
            double sum = 0;
            for (int i = 0; i < width; ++i) {
                sum += static_cast<double>(from.get(place));
                to[place] = static_cast<T>(sum);
                place += step;
            }
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void cumulative_sum(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const& to = t.arrays[s.output];
    std::ptrdiff_t const rows = c.samples * to.size.pixels;
    c.launch(grid_for(rows),
             cumulative_sum_body<T>{stored_at(c, t.arrays[s.first_array]), stored_at(c, to),
                                    to.size.channels, s.attribute, rows});
}

template <class Context>
struct kernel_for<Context, op::cumulative_sum>
    : function_kernel<Context, &cumulative_sum<Context>> {};

} // namespace castnet::cuda
