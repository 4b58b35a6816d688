// The micro-kernel under every matrix product and convolution: a tile of C = A * B in registers.
//
// A's rows are given by pointers and its depth by regular runs, so that the same loop serves dense
// layers (rows of a matrix), convolutions (pixels of an image, one run for each row of the window)
// and weight gradients (columns, one run for each row of the image). B's rows lie
// `b_stride` apart, one for each step of the depth.
//
// Loads of B and C may read up to one vector beyond the end of a row; every region of memory ends
// with that much slack.
#pragma once

#include <castnet/device/cpu/vector.hpp>

#include <cstddef>
#include <type_traits>

namespace castnet::cpu {

inline constexpr int tile_rows = 6;
inline constexpr int tile_vectors = vector_registers >= 32 ? 4 : 2;

// The depth of the product: outer * inner runs of `length` steps.
struct depth {
    std::ptrdiff_t length;     // steps in one run
    std::ptrdiff_t stride = 1; // of A from step to step
    std::ptrdiff_t inner = 1;  // runs that begin `inner_step` apart in A
    std::ptrdiff_t inner_step = 0;
    std::ptrdiff_t outer = 1;
    std::ptrdiff_t outer_step = 0;
};

// rows <= Rows rows and `columns` <= Vectors * width columns are stored; a[i] must be readable for
// all Rows rows.
template <int Rows, int Vectors, class T>
inline void tile(T const* const* a, depth const& d, T const* b, std::ptrdiff_t b_stride, T* c,
                 std::ptrdiff_t c_stride, int rows, int columns, bool accumulate) {
    constexpr int width = simd<T>::width;
    vec<T> sum[Rows][Vectors] = {};
    for (std::ptrdiff_t s = 0; s < d.outer * d.inner; ++s) {
        std::ptrdiff_t const begin = s / d.inner * d.outer_step + s % d.inner * d.inner_step;
        T const* row[Rows];
        for (int i = 0; i < Rows; ++i) {
            row[i] = a[i] + begin;
        }
        for (std::ptrdiff_t k = 0; k < d.length; ++k) {
            vec<T> right[Vectors];
            for (int j = 0; j < Vectors; ++j) {
                right[j] = *reinterpret_cast<vec<T> const*>(b + j * width);
            }
            for (int i = 0; i < Rows; ++i) {
                T const left = row[i][k * d.stride];
                for (int j = 0; j < Vectors; ++j) {
                    sum[i][j] += left * right[j];
                }
            }
            b += b_stride;
        }
    }
    for (int i = 0; i < rows; ++i) {
        T* out = c + i * c_stride;
        for (int j = 0; j < Vectors; ++j) {
            int const left = columns - j * width;
            if (left >= width) {
                auto* to = reinterpret_cast<vec<T>*>(out + j * width);
                *to = accumulate ? *to + sum[i][j] : sum[i][j];
            } else {
                for (int k = 0; k < left; ++k) {
                    T& to = out[j * width + k];
                    to = accumulate ? to + sum[i][j][k] : sum[i][j][k];
                }
            }
        }
    }
}

// All columns of `rows` <= tile_rows rows.
template <class T>
inline void tile_row(T const* const* a, depth const& d, T const* b, std::ptrdiff_t b_stride, T* c,
                     std::ptrdiff_t c_stride, int rows, std::ptrdiff_t columns,
                     bool accumulate = false) {
    constexpr int width = simd<T>::width;
    constexpr int full = tile_vectors * width;
    for (std::ptrdiff_t j = 0; j < columns; j += full) {
        int const left = static_cast<int>(columns - j < full ? columns - j : full);
        auto const run = [&]<int Vectors>(std::integral_constant<int, Vectors>) {
            if (rows == 1) {
                tile<1, Vectors>(a, d, b + j, b_stride, c + j, c_stride, 1, left, accumulate);
            } else {
                tile<tile_rows, Vectors>(a, d, b + j, b_stride, c + j, c_stride, rows, left,
                                         accumulate);
            }
        };
        if (left > 2 * width && tile_vectors > 2) {
            run(std::integral_constant<int, tile_vectors>{});
        } else if (left > width) {
            run(std::integral_constant<int, 2>{});
        } else {
            run(std::integral_constant<int, 1>{});
        }
    }
}

} // namespace castnet::cpu
