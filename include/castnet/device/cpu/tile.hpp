// The micro-kernel under every matrix product and convolution: a tile of C = A * B in registers.
//
// The rows of A and C are given by pointers and A's depth by regular runs, so that the same loop
// serves dense layers (rows of a matrix), convolutions (pixels of an image, one run for each row of
// the window) and weight gradients (columns, one run for each row of the image). B's rows lie
// `b_stride` apart, one for each step of the depth.
//
// Loads of B may read up to two vectors beyond the end of a row; every block of memory ends with
// that much slack.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/cpu/vector.hpp>

#include <cstddef>
#include <type_traits>

namespace castnet::cpu {

inline constexpr int tile_rows = 6;
inline constexpr int tile_vectors = vector_registers >= 32 ? 4 : 2;

template <class T>
inline constexpr int tile_columns = tile_vectors * simd<T>::width;

// The depth of the product: outer * inner runs of `length` steps.
struct depth {
    std::ptrdiff_t length;     // steps in one run
    std::ptrdiff_t stride = 1; // of A from step to step
    std::ptrdiff_t inner = 1;  // runs that begin `inner_step` apart in A
    std::ptrdiff_t inner_step = 0;
    std::ptrdiff_t outer = 1;
    std::ptrdiff_t outer_step = 0;
};

// The rows that a tile reads and writes: as many as `rows` says, but all pointers of A are valid.
template <class T>
struct tile_pointers {
    T const* a[tile_rows];
    T* c[tile_rows];
    int rows = 0;

    void push(T const* from, T* to) {
        a[rows] = from;
        c[rows++] = to;
    }
    bool full() const { return rows == tile_rows; }
    void repeat_last() {
        for (int i = rows; i < tile_rows; ++i) {
            a[i] = a[rows - 1];
        }
    }
};

// At most Rows rows and Vectors * width columns. Every loop over them is unrolled, so that the sums
// stay in registers. A is read from `skip` elements behind its pointers on.
// Not compiled into its callers: there is much of it, and registers are scarce.
template <int Rows, int Vectors, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void
tile(tile_pointers<T> const& p, std::ptrdiff_t skip, std::ptrdiff_t first, depth const& d,
     T const* b, std::ptrdiff_t b_stride, int columns, bool accumulate) {
    constexpr int width = simd<T>::width;
    vec<T> sum[Rows][Vectors] = {};
    std::ptrdiff_t stride = d.stride;
    for (std::ptrdiff_t o = 0; o < d.outer; ++o) {
        for (std::ptrdiff_t s = 0; s < d.inner; ++s) {
            T const* row[Rows];
            CASTNET_UNROLL
            for (int i = 0; i < Rows; ++i) {
                row[i] = p.a[i] + skip + o * d.outer_step + s * d.inner_step;
            }
            for (std::ptrdiff_t k = 0; k < d.length; ++k) {
                vec<T> right[Vectors];
                CASTNET_UNROLL
                for (int j = 0; j < Vectors; ++j) {
                    right[j] = *reinterpret_cast<vec<T> const*>(b + j * width);
                }
                CASTNET_UNROLL
                for (int i = 0; i < Rows; ++i) {
                    T const left = *row[i];
                    CASTNET_UNROLL
                    for (int j = 0; j < Vectors; ++j) {
                        sum[i][j] += left * right[j];
                    }
                }
                CASTNET_UNROLL
                for (int i = 0; i < Rows; ++i) {
                    row[i] += stride;
                }
                b += b_stride;
                CASTNET_OPAQUE(stride);
            }
        }
    }
    CASTNET_UNROLL
    for (int i = 0; i < Rows; ++i) {
        if (i < p.rows) {
            T* const out = p.c[i] + first;
            CASTNET_UNROLL
            for (int j = 0; j < Vectors; ++j) {
                int const left = columns - j * width;
                if (left >= width) {
                    auto* const to = reinterpret_cast<vec<T>*>(out + j * width);
                    *to = accumulate ? *to + sum[i][j] : sum[i][j];
                } else {
                    T part[width];
                    *reinterpret_cast<vec<T>*>(part) = sum[i][j];
                    for (int k = 0; k < width && k < left; ++k) {
                        T& to = out[j * width + k];
                        to = accumulate ? to + part[k] : part[k];
                    }
                }
            }
        }
    }
}

// Some tiles: their columns `first` to `first + columns`, no more than a tile has. Compiled once,
// not wherever it is called: there is much of it.
template <class T>
void tile_panel(tile_pointers<T> const* p, int tiles, std::ptrdiff_t skip, std::ptrdiff_t first,
                depth const& d, T const* b, std::ptrdiff_t b_stride, int columns, bool accumulate) {
    constexpr int width = simd<T>::width;
    auto const run = [&]<int Vectors>(std::integral_constant<int, Vectors>) {
        for (int i = 0; i < tiles; ++i) {
            if (p[i].rows == 1) {
                tile<1, Vectors>(p[i], skip, first, d, b, b_stride, columns, accumulate);
            } else {
                tile<tile_rows, Vectors>(p[i], skip, first, d, b, b_stride, columns, accumulate);
            }
        }
    };
    if (columns > 2 * width && tile_vectors > 2) {
        run(std::integral_constant<int, tile_vectors>{});
    } else if (columns > width) {
        run(std::integral_constant<int, 2>{});
    } else {
        run(std::integral_constant<int, 1>{});
    }
}

// `columns` columns of all rows.
template <class T>
void tile_row(tile_pointers<T>& p, depth const& d, T const* b, std::ptrdiff_t b_stride,
              std::ptrdiff_t columns, bool accumulate = false) {
    constexpr std::ptrdiff_t full = tile_columns<T>;
    p.repeat_last();
    for (std::ptrdiff_t j = 0; j < columns; j += full) {
        int const left = static_cast<int>(columns - j < full ? columns - j : full);
        tile_panel(&p, 1, 0, j, d, b + j, b_stride, left, accumulate);
    }
}

} // namespace castnet::cpu
