// The pixels under a window of pooling, and those between which up-sampling interpolates, along one
// axis.
#pragma once

#include <castnet/core/annotations.hpp>

namespace castnet::ir {

struct pixel_range {
    int first, last; // one past the last
};

// The pixels that window `out` of `count` windows, which share `size` pixels out, reads; where
// `count` does not divide `size`, some of them are read twice.
CASTNET_HD constexpr pixel_range adaptive_range(int out, int count, int size) {
    return {out * size / count, ((out + 1) * size + count - 1) / count};
}

// A pixel of a finer grid: (1 - share) of one pixel plus `share` of another.
template <class T>
struct interpolated {
    int first, second;
    T share;

    CASTNET_HD constexpr T weight(int pixel) const {
        return (pixel == first ? T(1) - share : T(0)) + (pixel == second ? share : T(0));
    }
};

// Of a grid `factor` times as fine, whose pixels lie in those of the coarse one; beyond the middle
// of the first and last pixel nothing changes any more.
template <class T>
CASTNET_HD constexpr interpolated<T> interpolate(int fine, int factor, int size) {
    int const from_first =
        2 * fine + 1 - factor; // middles' distance, in half pixels of the fine grid
    int const distance = from_first > 0 ? from_first : 0;
    int const first = distance / (2 * factor);
    return {first, first + 1 < size ? first + 1 : first,
            T(distance - first * 2 * factor) / T(2 * factor)};
}

// The pixels of the fine grid that may have some of this one.
CASTNET_HD constexpr pixel_range interpolated_from(int coarse, int factor, int size) {
    int const first = (coarse - 1) * factor, last = (coarse + 2) * factor;
    return {first > 0 ? first : 0, last < size * factor ? last : size * factor};
}

} // namespace castnet::ir
