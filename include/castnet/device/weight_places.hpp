// Distances of a weight's elements in memory, by its axes in logical order.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/ir.hpp>

#include <cstddef>

namespace castnet::ir {

// Of a form (graph/op/weight_values.hpp): filters, channels, slices, taps of a slice. Taps of
// different slices lie beside each other.
struct weight_places {
    std::ptrdiff_t filter, channel, slice, tap;

    // (…, taps, channels, filters)
    static CASTNET_HD constexpr weight_places filters_innermost(window const& w) {
        std::ptrdiff_t const all = std::ptrdiff_t{w.channels} * w.filters;
        return {1, w.filters, all, all * w.height};
    }
    // (filters, …, taps, channels)
    static CASTNET_HD constexpr weight_places channels_innermost(window const& w) {
        std::ptrdiff_t const channels = w.channels;
        return {channels * w.height * w.width, 1, channels, channels * w.height};
    }
};

} // namespace castnet::ir
