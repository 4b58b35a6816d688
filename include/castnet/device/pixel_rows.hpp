// Rows of an array that a kernel computes: all pixels of its samples, or, in a loop over time, one
// pixel of each.
#pragma once

#include <castnet/graph/extents.hpp>

#include <cstddef>

namespace castnet::ir {

// Row i of them is row first + i * step of the array.
struct pixel_rows {
    std::ptrdiff_t count, first, step;

    CASTNET_HD constexpr std::ptrdiff_t operator()(std::ptrdiff_t i) const {
        return first + i * step;
    }
};

// Of samples of this size, in an iteration of a loop or, for -1, outside of loops. Where a loop
// keeps one step only, that is the one.
CASTNET_HD constexpr pixel_rows rows_of(extents size, std::ptrdiff_t samples,
                                        std::ptrdiff_t iteration) {
    return iteration < 0 || size.pixels == 1 ? pixel_rows{samples * size.pixels, 0, 1}
                                             : pixel_rows{samples, iteration, size.pixels};
}

} // namespace castnet::ir
