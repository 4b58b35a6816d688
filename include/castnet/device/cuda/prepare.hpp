// Choice of the libraries' algorithms for the launches of a plan, before any of them runs.
#pragma once

#include <castnet/device/cuda/conv.hpp>
#include <castnet/device/cuda/matmul.hpp>
#include <castnet/device/launches.hpp>

namespace castnet::cuda {

// Those of one of the plan's devices.
template <auto const& Plan, class T>
void choose_algorithms(context<T> const& of_plan, int device = 0) {
    launch_tables const t{Plan.arrays, Plan.scalars, Plan.windows};
    for (stage const& g : Plan.stages) {
        for (int i = g.first; i < g.last && g.device == device; ++i) {
            kernel_launch const& s = Plan.launch(i);
            if (is_small_weight(s, t)) {
                continue; // castnet's
            }
            context<T> const c = ir::context_of(s, Plan.arrays, of_plan);
            if (is_matmul(s.kind)) {
                c.library->prepare(product_of(s, t, c));
            } else if (s.kind == op::batch_matmul) {
                c.library->prepare(batch_of(s, t, c).what);
            } else if (is_conv(s.kind) && !has_few_channels(s, t, c)) {
                c.library->prepare(convolution_of(s, t, c));
            }
        }
    }
}

} // namespace castnet::cuda
