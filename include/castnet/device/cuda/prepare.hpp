// Lets the libraries choose what the steps of a plan need, before any of them runs.
#pragma once

#include <castnet/device/cuda/conv.hpp>
#include <castnet/device/cuda/matmul.hpp>

namespace castnet::cuda {

template <auto const& Plan, class T>
void choose_algorithms(context<T> const& c) {
    step_tables const t{Plan.arrays, Plan.scalars, Plan.windows};
    for (step const& s : Plan.steps) {
        switch (s.kind) {
        case op::matmul:
        case op::matmul_data:
        case op::matmul_weight:
            c.library->plan(product_of(s, t, c));
            break;
        case op::conv:
        case op::conv_data:
        case op::conv_weight:
            c.library->plan(convolution_of(s, t, c));
            break;
        default:
            break;
        }
    }
}

} // namespace castnet::cuda
