// Numbers of the rows that a kernel body computes, in an array (device/pixel_rows.hpp).
#pragma once

#include <castnet/device/pixel_rows.hpp>

#include <cstdint>

namespace castnet::cuda {

struct row_numbers {
    std::uint32_t first = 0, step = 1;

    CASTNET_HD std::uint32_t operator()(std::uint32_t i) const { return first + i * step; }
};

// A context within a kernel whose blocks each run a loop for some of the samples (loop_kernel.hpp).
template <class Context>
concept RunsLoop = requires { Context::most_samples; };

// In such a block, rows of its samples.
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD ir::pixel_rows rows_of(ir::extents size, Context const& c, std::ptrdiff_t iteration) {
    ir::pixel_rows rows = ir::rows_of(size, c.samples, iteration);
    if constexpr (RunsLoop<Context>) {
        rows.first += c.samples_before * size.pixels;
    }
    return rows;
}
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD ir::pixel_rows rows_of(ir::extents size, Context const& c) {
    return rows_of(size, c, c.iteration);
}
CASTNET_HD constexpr row_numbers numbers_of(ir::pixel_rows const& rows) {
    return {static_cast<std::uint32_t>(rows.first), static_cast<std::uint32_t>(rows.step)};
}

} // namespace castnet::cuda
