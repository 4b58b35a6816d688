// Factors of square matrices and triangular systems in memory, by the threads of a block: those of
// a GPU (device/cuda/launch.hpp), or the one thread of a CPU that works on a matrix.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/square_root.hpp>
#include <castnet/core/target.hpp>

#include <cstddef>
#include <limits>

namespace castnet::ir::inline CASTNET_VECTORS {

// A block of one thread.
struct lone_thread {
    static constexpr unsigned thread() { return 0; }
    static constexpr unsigned threads() { return 1; }
    static constexpr void sync() {}
};

// row -= factor * other, of elements `first` to `end`
template <class T>
CASTNET_HD void subtract_row(T* row, T factor, T const* other, std::ptrdiff_t first,
                             std::ptrdiff_t end) {
    CASTNET_IVDEP
    for (std::ptrdiff_t j = first; j < end; ++j) {
        row[j] -= factor * other[j];
    }
}

// a (n x n), of which the lower triangle is read, becomes its Cholesky factor, with 0 above the
// diagonal; NaN from the first column on whose pivot is not positive.
template <class Block, class T>
CASTNET_HD void factorize_definite(Block const& block, T* a, std::ptrdiff_t n) {
    std::ptrdiff_t const first = block.thread(), step = block.threads();
    for (std::ptrdiff_t i = first; i < n; i += step) { // above the diagonal, along rows
        for (std::ptrdiff_t j = i + 1; j < n; ++j) {
            a[i * n + j] = a[j * n + i];
        }
    }
    for (std::ptrdiff_t k = 0; k < n; ++k) {
        block.sync();
        T const* const line = a + k * n;
        T const pivot = line[k];
        T const inverse = pivot > T(0) ? 1 / pivot : std::numeric_limits<T>::quiet_NaN();
        for (std::ptrdiff_t i = k + 1 + first; i < n; i += step) {
            subtract_row(a + i * n, line[i] * inverse, line, i, n);
        }
    }
    block.sync();
    for (std::ptrdiff_t i = first; i < n; i += step) {
        T* const row = a + i * n;
        T const root = row[i] > T(0) ? square_root(row[i]) : std::numeric_limits<T>::quiet_NaN();
        row[i] = root;
        for (std::ptrdiff_t j = i + 1; j < n; ++j) {
            a[j * n + i] = row[j] / root;
            row[j] = 0;
        }
    }
}

// The first n columns of a (n x n + 1) become the triangular factors of that matrix with exchanged
// rows, by elimination with pivots; the last one says with which row each was exchanged.
template <class Block, class T>
CASTNET_HD void factorize_by_elimination(Block const& block, T* a, std::ptrdiff_t n) {
    std::ptrdiff_t const first = block.thread(), step = block.threads(), width = n + 1;
    for (std::ptrdiff_t k = 0; k < n; ++k) {
        block.sync();
        std::ptrdiff_t pivot = k;
        T largest = 0;
        for (std::ptrdiff_t i = k; i < n; ++i) {
            T const x = a[i * width + k], size = x < T(0) ? -x : x;
            pivot = size > largest ? i : pivot;
            largest = size > largest ? size : largest;
        }
        block.sync();
        T *const line = a + k * width, *const other = a + pivot * width;
        for (std::ptrdiff_t j = first; j < n; j += step) {
            T const x = line[j];
            line[j] = other[j];
            other[j] = x;
        }
        block.sync();
        if (first == 0) {
            line[n] = static_cast<T>(pivot);
        }
        for (std::ptrdiff_t i = k + 1 + first; i < n; i += step) {
            T* const row = a + i * width;
            row[k] = largest > T(0) ? row[k] / line[k] : row[k]; // (0 below a pivot of 0, or NaN)
            subtract_row(row, row[k], line, k + 1, n);
        }
    }
}

// x (n x columns, rows `width` apart) becomes the solution of a triangular system, whose matrix has
// elements at(i, k): row by row, forwards of a lower one, backwards of an upper one; with a
// diagonal of 1 or that of the matrix.
template <class T, class At>
CASTNET_HD void solve_triangle(std::ptrdiff_t n, bool forwards, bool has_ones, At const& at, T* x,
                               std::ptrdiff_t width, std::ptrdiff_t columns) {
    for (std::ptrdiff_t done = 0; done < n; ++done) {
        std::ptrdiff_t const i = forwards ? done : n - 1 - done;
        T* const row = x + i * width;
        for (std::ptrdiff_t k = forwards ? 0 : i + 1; k < (forwards ? i : n); ++k) {
            subtract_row(row, at(i, k), x + k * width, 0, columns);
        }
        if (!has_ones) {
            T const pivot = at(i, i);
            for (std::ptrdiff_t j = 0; j < columns; ++j) {
                row[j] /= pivot;
            }
        }
    }
}

// The same by the factors of factorize_by_elimination, of their matrix or the transposed one.
template <class T>
CASTNET_HD void solve_by_factors(std::ptrdiff_t n, bool transposed, T const* factors, T* x,
                                 std::ptrdiff_t width, std::ptrdiff_t columns) {
    auto const at = [&](std::ptrdiff_t i, std::ptrdiff_t k) {
        return transposed ? factors[k * (n + 1) + i] : factors[i * (n + 1) + k];
    };
    auto const exchange = [&](std::ptrdiff_t k) {
        auto const other = static_cast<std::ptrdiff_t>(factors[k * (n + 1) + n]);
        for (std::ptrdiff_t j = 0; j < columns; ++j) {
            T const y = x[k * width + j];
            x[k * width + j] = x[other * width + j];
            x[other * width + j] = y;
        }
    };
    if (!transposed) {
        for (std::ptrdiff_t k = 0; k < n; ++k) {
            exchange(k);
        }
    }
    solve_triangle(n, true, !transposed, at, x, width, columns);
    solve_triangle(n, false, transposed, at, x, width, columns);
    if (transposed) {
        for (std::ptrdiff_t k = n; k > 0; --k) {
            exchange(k - 1);
        }
    }
}

template <class T>
CASTNET_HD T determinant_by_factors(std::ptrdiff_t n, T const* factors) {
    T product = 1;
    for (std::ptrdiff_t k = 0; k < n; ++k) {
        T const* const row = factors + k * (n + 1);
        product *= row[n] == static_cast<T>(k) ? row[k] : -row[k];
    }
    return product;
}

} // namespace castnet::ir::inline CASTNET_VECTORS
