// Slices of parameters.
#pragma once

#include <castnet/device/cpu/kernel.hpp>
#include <castnet/graph/op/parameter_slice.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
void parameter_slice(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    extents const all = units_in_memory(from.size);
    std::ptrdiff_t const units = to.size.count() / all.pixels;
    for (std::ptrdiff_t row = 0; row < all.pixels; ++row) {
        std::copy_n(c.at(from) + row * all.channels + s.attribute, units, c.at(to) + row * units);
    }
}

// The gradient by the whole: 0 for all other units.
template <class T>
void parameter_slice_gradient(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &from = t.arrays[s.first_array], &to = t.arrays[s.output];
    extents const all = units_in_memory(to.size);
    std::ptrdiff_t const units = from.size.count() / all.pixels;
    std::fill_n(c.at(to), to.size.count(), T(0));
    for (std::ptrdiff_t row = 0; row < all.pixels; ++row) {
        std::copy_n(c.at(from) + row * units, units, c.at(to) + row * all.channels + s.attribute);
    }
}

template <class T>
struct kernel_for<T, op::parameter_slice> : function_kernel<T, &parameter_slice<T>> {};
template <class T>
struct kernel_for<T, op::parameter_slice_gradient>
    : function_kernel<T, &parameter_slice_gradient<T>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
