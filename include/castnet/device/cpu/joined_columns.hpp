// Joined columns of depthwise convolutions whose filters would not fill a vector: the results of
// several columns, which lie side by side, are computed as those of one with more filters.
#pragma once

#include <castnet/cpu/tile.hpp>
#include <castnet/device/cpu/sliding.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace castnet::cpu::inline CASTNET_TARGET {

// Weights of a window's taps, and the epilogue of the sums with them.
template <class T>
struct grouped_weights {
    T const* data;
    tile_end<T> end;
    std::ptrdiff_t filters;
};

// Where the filters of a depthwise convolution would not fill a vector, this many columns are
// joined to one of as many times more filters, whose weights are repeated; 1 elsewhere.
template <class T>
constexpr int joined_columns(window const& w, int columns) {
    constexpr int width = simd<T>::width;
    bool const joins = is_depthwise(w) && w.filters < width && w.stride_w == 1;
    return joins ? std::min(std::lcm(w.filters, width) / w.filters, columns) : 1;
}
template <class T>
constexpr std::ptrdiff_t joined_scratch(window const& w, int columns) {
    std::ptrdiff_t const joined = joined_columns<T>(w, columns);
    // the weights and the bias, which are read in whole vectors
    return joined > 1 ? aligned((weight_count(w) + w.filters) * joined + simd<T>::width) : 0;
}
template <class T>
grouped_weights<T> join_columns(window const& w, grouped_weights<T> const& one, int columns,
                                T* scratch) {
    int const joined = joined_columns<T>(w, columns);
    if (joined == 1) {
        return one;
    }
    T* to = scratch;
    auto const repeat = [&](T const* from) {
        for (int i = 0; i < joined; ++i) {
            to = std::copy_n(from, w.filters, to);
        }
    };
    for (std::ptrdiff_t tap = 0; tap < weight_count(w); tap += w.filters) {
        repeat(one.data + tap);
    }
    grouped_weights<T> many{scratch, one.end, std::ptrdiff_t{joined} * w.filters};
    if (one.end.bias) {
        many.end.bias = to;
        repeat(one.end.bias);
    }
    return many;
}

} // namespace castnet::cpu::inline CASTNET_TARGET
