// Widening of gradients from bfloat16: cuDNN writes those of convolution weights in the type of the
// factors, and replicas may exchange them so.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/plan/instruction.hpp>

namespace castnet::cuda {

template <class T>
struct widen_body {
    bfloat16 const* from;
    T* to;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) { to[i] = T(from[i]); });
    }
};

// Of several arrays, in one launch.
template <class T>
struct widen_arrays_body {
    widen_body<T> of[most_widened];
    int arrays;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for (int k = 0; k < arrays; ++k) {
            of[k](block);
        }
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void widen(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    widen_arrays_body<T> body{{}, s.arrays};
    std::ptrdiff_t largest = 0;
    for (int k = 0; k < s.arrays; ++k) {
        array_ref const& from = t.arrays[s.first_array + k];
        body.of[k] = {reinterpret_cast<bfloat16 const*>(c.at(from)), c.at(t.arrays[s.output + k]),
                      from.size.count()};
        largest = from.size.count() > largest ? from.size.count() : largest;
    }
    c.launch(grid_for(largest), body);
}

template <class Context>
struct kernel_for<Context, op::widen> : function_kernel<Context, &widen<Context>> {};

} // namespace castnet::cuda
