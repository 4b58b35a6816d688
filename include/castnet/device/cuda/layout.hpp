// Memory layout of parameters on the GPU, as cuDNN and cuBLASLt read them, so that a step converts
// nothing: from an element's logical (row-major) index to its place.
#pragma once

#include <castnet/device/ir.hpp>
#include <castnet/device/sample_order.hpp>
#include <castnet/graph/parameter.hpp>

#include <cstddef>

namespace castnet::cuda {

// A parameter: dense weights (units, features) lie as (features, units); convolution weights
// (filters, channels, [depth,] height, width) as (filters, height, width, [depth,] channels); all
// others as samples do.
constexpr std::ptrdiff_t place_in_parameter(std::ptrdiff_t i, parameter const& p) {
    int const* const extent = p.shape.extent;
    if (p.kind == role::dense_weight) {
        return feature_in_memory(i % extent[1], p) * extent[0] + i / extent[1];
    }
    if (p.kind == role::conv_weight) {
        std::ptrdiff_t const taps = taps_of(p);
        std::ptrdiff_t const tap = tap_in_memory(i % taps, p), channel = i / taps % extent[1];
        return (i / taps / extent[1] * taps + tap) * extent[1] + channel;
    }
    return place_in_sample(i, extents_of(p.shape, false));
}

} // namespace castnet::cuda
