// Epilogue of a product or convolution (plan/epilogue.hpp) as its kernels see it.
#pragma once

#include <castnet/plan/kernel_launch.hpp>

namespace castnet::ir {

// The bias of a launch with an epilogue (its last operand), or the destination of the bias's
// gradient; nullptr for other launches.
template <class Context>
auto* bias_of(kernel_launch const& s, launch_tables const& t, Context const& c) {
    return s.end.bias            ? c.at(t.arrays[s.output - 1])
           : s.end.bias_gradient ? c.at(t.arrays[s.output + 1])
                                 : nullptr;
}

} // namespace castnet::ir
