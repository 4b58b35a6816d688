// Memory layout of parameters on the CPU: from an element's logical (row-major) index to its place.
#pragma once

#include <castnet/core/target.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/device/sample_order.hpp>
#include <castnet/graph/parameter.hpp>

#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

// A parameter: dense weights (units, features) lie as (features, units); convolution weights
// (filters, channels of the group, height, width) as (height, width, channels of the group,
// filters); all others as samples do.
constexpr std::ptrdiff_t place_in_parameter(std::ptrdiff_t i, parameter const& p) {
    if (p.kind == role::dense_weight) {
        return feature_in_memory(i % p.dims[1], p) * p.dims[0] + i / p.dims[1];
    }
    if (p.kind == role::conv_weight) {
        std::ptrdiff_t const taps = std::ptrdiff_t{p.dims[2]} * p.dims[3];
        std::ptrdiff_t const tap = i % taps, channel = i / taps % p.dims[1];
        return (tap * p.dims[1] + channel) * p.dims[0] + i / taps / p.dims[1];
    }
    return place_as_sample(i, p);
}

} // namespace castnet::cpu::inline CASTNET_TARGET
