// Slices of parameters.
#pragma once

#include <castnet/device/cuda/rearrange.hpp>
#include <castnet/graph/op/parameter_slice.hpp>

namespace castnet::cuda {

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void parameter_slice(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    extents const all = units_in_memory(from.size);
    int const units = static_cast<int>(to.size.count() / all.pixels);
    copy_channels(c,
                  copy_channels_body<T>{stored_at(c, from), stored_at(c, to), all.channels,
                                        s.attribute, units},
                  all.pixels);
}

// The gradient by the whole: 0 for all other units.
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void parameter_slice_gradient(kernel_launch const& s, tables const& t,
                                         Context const& c) {
    using T = typename Context::value_type;
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    extents const all = units_in_memory(to.size);
    int const units = static_cast<int>(from.size.count() / all.pixels);
    c.launch(grid_for(to.size.count()),
             slice_gradient_body<T>{stored_at(c, from), stored_at(c, to), units, s.attribute,
                                    quotient(all.channels), to.size.count()});
}

template <class Context>
struct kernel_for<Context, op::parameter_slice>
    : function_kernel<Context, &parameter_slice<Context>> {};
template <class Context>
struct kernel_for<Context, op::parameter_slice_gradient>
    : function_kernel<Context, &parameter_slice_gradient<Context>> {};

} // namespace castnet::cuda
