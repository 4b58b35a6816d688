// Conversion of arrays from bfloat16 or to it: gradients of convolution weights, which cuDNN writes
// in the type of the factors, or that replicas exchange so; parameters and inputs that products
// read.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/lanes.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/plan/instruction.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace castnet::cuda {

// A thread converts a group of neighbouring elements, where both arrays lie in such groups, or one.
template <class From, class To>
struct convert_body {
    static constexpr int lanes = lanes_of<bfloat16>;
    using computed = std::conditional_t<std::is_same_v<From, bfloat16>, To, From>;

    From const* from = nullptr;
    To* to = nullptr;
    std::ptrdiff_t groups = 0;
    std::ptrdiff_t count = 0; // of groups, and of elements after them

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            if (i < groups) {
                computed lane[lanes];
                load_lanes(from + i * lanes, lane);
                store_lanes(lane, to + i * lanes);
            } else {
                std::ptrdiff_t const place = groups * (lanes - 1) + i;
                to[place] = To(from[place]);
            }
        });
    }
};

template <class From, class To>
CASTNET_HD convert_body<From, To> converting(From const* from, To* to, std::ptrdiff_t elements) {
    using body = convert_body<From, To>;
    auto const addresses =
        reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
    std::ptrdiff_t const groups = addresses % 16 == 0 ? elements / body::lanes : 0;
    return {from, to, groups, elements - groups * (body::lanes - 1)};
}

// Of several arrays, in one launch.
template <class From, class To>
struct convert_arrays_body {
    convert_body<From, To> of[most_converted];
    int arrays;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for (int k = 0; k < arrays; ++k) {
            of[k](block);
        }
    }
};

CASTNET_CALLS_UNCHECKED
template <class From, class To, class Context>
CASTNET_HD void convert_arrays(kernel_launch const& s, tables const& t, Context const& c) {
    convert_arrays_body<From, To> body{{}, s.arrays};
    std::ptrdiff_t largest = 0;
    for (int k = 0; k < s.arrays; ++k) {
        array_ref const& from = t.arrays[s.first_array + k];
        std::ptrdiff_t const elements = from.size.count() * (from.size.sample ? c.samples : 1);
        body.of[k] = converting(reinterpret_cast<From const*>(c.at(from)),
                                reinterpret_cast<To*>(c.at(t.arrays[s.output + k])), elements);
        largest = body.of[k].count > largest ? body.of[k].count : largest;
    }
    c.launch(grid_for(largest), body);
}

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void convert(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    if (t.arrays[s.first_array].is_bf16) {
        convert_arrays<bfloat16, T>(s, t, c);
    } else {
        convert_arrays<T, bfloat16>(s, t, c);
    }
}

template <class Context>
struct kernel_for<Context, op::convert> : function_kernel<Context, &convert<Context>> {};

} // namespace castnet::cuda
