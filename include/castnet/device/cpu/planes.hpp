// Planes: copies of some channels of an image, each for itself, whose neighbouring pixels fill a
// vector. Rows and columns are split by the stride of a window, so that what a tap meets at
// neighbouring positions lies together; around the image lie zeros.
#pragma once

#include <castnet/cpu/transpose.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/graph/node.hpp>
#include <castnet/plan/memory.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

// Vectors of positions that are computed at once.
inline constexpr int planar_vectors = vector_registers >= 32 ? 4 : 2;
template <class T>
inline constexpr std::ptrdiff_t planar_positions = std::ptrdiff_t{planar_vectors} * simd<T>::width;

// Pixels of an image at equal distances: those of one phase of a stride.
struct phase {
    int stride_h, stride_w;
    int top, left; // of the first pixel; may lie outside, before the image
};

// The geometry of planes. A position is a place in a phase, row by row with its border.
struct planes {
    int stride_h, stride_w, before_h, before_w; // zeros before the image
    int rows, columns;                          // of a phase

    constexpr std::ptrdiff_t phase_size() const { return std::ptrdiff_t{rows} * columns; }
    constexpr std::ptrdiff_t size() const { // of a channel
        return aligned(phase_size() * stride_h * stride_w);
    }
    // The place of a pixel.
    constexpr std::ptrdiff_t at(int y, int x) const {
        int const down = y + before_h, right = x + before_w;
        return (down % stride_h * stride_w + right % stride_w) * phase_size() +
               std::ptrdiff_t{down / stride_h} * columns + right / stride_w;
    }
};

// Copies some channels of an image, which has `all`, into planes that are 0 elsewhere.
template <class T>
void to_planes(planes const& p, T const* image, int height, int width, std::ptrdiff_t all,
               std::ptrdiff_t channels, T* to) {
    for (int y = 0; y < height && (y + p.before_h) / p.stride_h < p.rows; ++y) {
        for (int x = 0; x < std::min(width, p.stride_w); ++x) {
            int const room = p.columns - (x + p.before_w) / p.stride_w;
            int const columns = std::min((width - x + p.stride_w - 1) / p.stride_w, room);
            if (columns > 0) {
                transpose<T>(columns, channels, image + (std::ptrdiff_t{y} * width + x) * all,
                             p.stride_w * all, to + p.at(y, x), p.size());
            }
        }
    }
}

// Copies planes of results, whose positions are pixels of a phase of the image, into it.
template <class T>
void from_planes(T const* from, std::ptrdiff_t plane, int rows, int columns, phase const& at,
                 std::ptrdiff_t channels, T* image, int height, int width, std::ptrdiff_t all) {
    int const skipped = at.left < 0 ? (-at.left + at.stride_w - 1) / at.stride_w : 0;
    int const x = at.left + skipped * at.stride_w;
    int const count = std::min((width - x + at.stride_w - 1) / at.stride_w, columns - skipped);
    for (int row = 0; row < rows; ++row) {
        int const y = at.top + row * at.stride_h;
        if (y >= 0 && y < height && x < width) {
            transpose<T>(channels, count, from + std::ptrdiff_t{row} * columns + skipped, plane,
                         image + (std::ptrdiff_t{y} * width + x) * all, at.stride_w * all);
        }
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
