// Index space of a tensor as every kernel sees it: samples x pixels x channels.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/graph/axes.hpp>

#include <cstddef>

namespace castnet::ir {

// Channels lie innermost in memory, whatever the logical order of the axes:
//
//   logical shape                 pixels         channels
//   (features)                    1              features
//   (time, features)              time           features
//   (heads, time, features)       heads * time   features     row_major
//   (channels, height, width)     height * width channels     channels_last
//
// `sample` is false for what all samples share: parameters, constants, sums over the batch. `order`
// is channels_last where memory differs from the logical order: for images of several pixels and
// channels.
struct extents {
    bool sample = true;
    int pixels = 1;
    int channels = 1;
    memory_order order = memory_order::row_major;

    CASTNET_HD constexpr std::ptrdiff_t count() const { return std::ptrdiff_t{pixels} * channels; }
    // From a sample's elements to the next one's: 0 where all samples share them.
    CASTNET_HD constexpr std::ptrdiff_t sample_step() const { return sample ? count() : 0; }
    CASTNET_HD constexpr bool in_logical_order() const { return order == memory_order::row_major; }
    friend constexpr bool operator==(extents const&, extents const&) = default;
};

constexpr extents extents_of(axes const& a, bool sample) {
    extents e;
    e.sample = sample;
    if (a.rank > 0) {
        e.channels = a.extent[a.order == memory_order::channels_last ? 0 : a.rank - 1];
        e.pixels = a.count() / e.channels;
    }
    if (e.pixels > 1 && e.channels > 1) {
        e.order = a.order;
    }
    return e;
}

// Of a sample.
template <class S>
inline constexpr extents space_of = extents_of(axes_of<S>, true);

} // namespace castnet::ir
