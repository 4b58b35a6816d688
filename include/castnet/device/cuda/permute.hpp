// Permutation of axes: runs of neighbours change places. A thread moves one element.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/quotient.hpp>

namespace castnet::cuda {

template <class T>
struct exchange_axes_body {
    stored<T> from, to;
    quotient rows, columns, run;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            std::uint32_t const place = run.divide(static_cast<std::uint32_t>(i)),
                                element = static_cast<std::uint32_t>(i) - place * run.divisor;
            std::uint32_t const line = rows.divide(place), row = place - line * rows.divisor;
            std::uint32_t const matrix = columns.divide(line),
                                column = line - matrix * columns.divisor;
            std::ptrdiff_t const first =
                (std::ptrdiff_t{matrix} * rows.divisor + row) * columns.divisor + column;
            to[i] = from.get(first * run.divisor + element);
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void exchange_axes(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    window const& w = t.windows[s.window];
    std::ptrdiff_t const count = c.samples * to.size.count();
    c.launch(grid_for(count),
             exchange_axes_body<T>{stored_at(c, from), stored_at(c, to), quotient(w.height),
                                   quotient(w.width), quotient(w.channels), count});
}

template <class Context>
struct kernel_for<Context, op::transpose> : function_kernel<Context, &exchange_axes<Context>> {};

} // namespace castnet::cuda
