// Factors of square matrices in memory, block by block: most of the work is products of matrices.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/error.hpp>
#include <castnet/tensor/detail/product.hpp>
#include <castnet/tensor/detail/side_by_side.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace castnet::detail::inline CASTNET_VECTORS {

// Columns that are factorized together.
inline constexpr size_t factor_block = 32;

// c (m x n, rows c_row apart) -= a (m x k, rows a_row apart) b (k x n); `minus` is memory for -a.
template <class T>
void subtract_product(size_t m, size_t n, size_t k, T const* a, size_t a_row,
                      cpu::matrix<T> const& b, T* c, size_t c_row, std::vector<T>& minus) {
    if (m == 0 || n == 0 || k == 0) {
        return;
    }
    minus.resize(m * k);
    for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < k; ++j) {
            minus[i * k + j] = -a[i * a_row + j];
        }
    }
    auto const signed_of = [](size_t count) { return static_cast<std::ptrdiff_t>(count); };
    if constexpr (InVectors<T>) {
        cpu::product<T> p{
            signed_of(m),    signed_of(n), signed_of(k), {minus.data(), signed_of(k), 1}, b, c,
            signed_of(c_row)};
        p.end.accumulate = true;
        multiply_large<T>(p);
    } else {
        for (size_t i = 0; i < m * k; ++i) {
            T const* const line = b.data + signed_of(i % k) * b.row;
            for (size_t j = 0; j < n; ++j) {
                c[i / k * c_row + j] += minus[i] * line[signed_of(j) * b.column];
            }
        }
    }
}

// row -= factor * other, of `count` numbers that do not overlap
template <class T>
void subtract_row(T* row, T factor, T const* other, size_t count) {
    CASTNET_IVDEP
    for (size_t j = 0; j < count; ++j) {
        row[j] -= factor * other[j];
    }
}

// Rows and columns `first` to `end` of a (n x n) become those of its Cholesky factor, if the
// products of what lies before them have been subtracted.
template <size_t N, class T>
CASTNET_ALWAYS_INLINE void factorize_few_columns(T* a, size_t first, size_t end) {
    for (size_t j = first; j < end; ++j) {
        T const* const line = a + j * N;
        for (size_t i = j; i < end; ++i) {
            T rest = a[i * N + j];
            for (size_t k = first; k < j; ++k) {
                rest -= a[i * N + k] * line[k];
            }
            if (i > j) {
                a[i * N + j] = rest / line[j];
            } else if (rest > T(0)) {
                a[i * N + j] = std::sqrt(rest);
            } else {
                throw error({"castnet: cholesky: the matrix is not positive definite: pivot ", j,
                             " is ", static_cast<double>(rest)});
            }
        }
    }
}

// x (rows x Width), whose rows are N apart as those of `factor` are, becomes y with y factor^T = x:
// several rows at once, none of which waits for another.
template <size_t N, size_t Width, class T>
void divide_by_factor(T* x, size_t rows, T const* factor) {
    constexpr size_t several = 8;
    T columns[Width][Width] = {}; // of the factor, below its diagonal
    for (size_t j = 0; j < Width; ++j) {
        for (size_t i = j + 1; i < Width; ++i) {
            columns[j][i] = factor[i * N + j];
        }
    }
    for (size_t begin = 0; begin < rows; begin += several) {
        size_t const end = std::min(begin + several, rows);
        for (size_t j = 0; j < Width; ++j) {
            for (size_t i = begin; i < end; ++i) {
                T* const row = x + i * N;
                T const quotient = row[j] / factor[j * N + j];
                subtract_row(row, quotient, columns[j], Width);
                row[j] = quotient;
            }
        }
    }
}

// The lower triangle of a (n x n), of which only that is read, becomes that of its Cholesky factor.
template <size_t N, class T>
void factorize_definite(T* a) {
    constexpr size_t width = factor_block;
    if constexpr (N <= width) { // in loops of known length
        factorize_few_columns<N>(a, 0, N);
        return;
    }
    std::vector<T> minus;
    for (size_t first = 0; first < N; first += width) {
        size_t const end = std::min(first + width, N);
        T* const rows = a + first * N;
        subtract_product<T>(N - first, end - first, first, rows, N,
                            {rows, 1, static_cast<std::ptrdiff_t>(N)}, rows + first, N, minus);
        factorize_few_columns<N>(a, first, end);
        if (end < N) {
            divide_by_factor<N, width>(a + end * N + first, N - end, rows + first);
        }
    }
}

// The same of a batch of matrices: small ones side by side.
template <size_t N, class T>
void factorize_all_definite(size_t batch, T* a) {
    size_t done = 0;
    if constexpr (fits_side_by_side<T, N * N>) {
        constexpr size_t lanes = side_by_side<T, N * N>::lanes;
        for (; done + lanes <= batch; done += lanes) {
            side_by_side<T, N * N> several;
            several.load(a + done * N * N);
            if (!factorize_side_by_side<N>(several)) {
                break; // one of these is not positive definite
            }
            several.store(a + done * N * N);
        }
    }
    for (; done != batch; ++done) {
        factorize_definite<N>(a + done * N * N);
    }
}

// The columns before the first one that depends on those before it, and how often rows changed
// places.
struct elimination {
    size_t columns, exchanges;
};

// a (N x N) becomes its triangular factors, by elimination with pivots, and b (N x Columns) what is
// left of a system's right side.
template <size_t N, size_t Columns, class T>
elimination eliminate(T* a, T* b) {
    constexpr size_t n = N, columns = Columns;
    std::vector<T> minus;
    auto const whole = static_cast<std::ptrdiff_t>(n), all = static_cast<std::ptrdiff_t>(columns);
    size_t exchanges = 0;
    for (size_t first = 0; first < n; first += factor_block) {
        size_t const end = std::min(first + factor_block, n);
        for (size_t k = first; k < end; ++k) {
            size_t pivot = k;
            for (size_t i = k + 1; i < n; ++i) {
                pivot = std::abs(a[i * n + k]) > std::abs(a[pivot * n + k]) ? i : pivot;
            }
            if (!(std::abs(a[pivot * n + k]) > T(0))) {
                return {k, exchanges};
            }
            if (pivot != k) {
                std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
                std::swap_ranges(b + k * columns, b + (k + 1) * columns, b + pivot * columns);
                ++exchanges;
            }
            T const* const line = a + k * n;
            for (size_t i = k + 1; i < n; ++i) {
                T* const row = a + i * n;
                row[k] /= line[k];
                subtract_row(row + k + 1, row[k], line + k + 1, end - k - 1);
            }
        }
        // what the block's rows have to its right, when no more of them change places
        for (size_t i = first + 1; i < end; ++i) {
            for (size_t k = first; k < i; ++k) {
                T const factor = a[i * n + k];
                subtract_row(a + i * n + end, factor, a + k * n + end, n - end);
                subtract_row(b + i * columns, factor, b + k * columns, columns);
            }
        }
        T* const below = a + end * n;
        subtract_product<T>(n - end, n - end, end - first, below + first, n,
                            {a + first * n + end, whole, 1}, below + end, n, minus);
        subtract_product<T>(n - end, columns, end - first, below + first, n,
                            {b + first * columns, all, 1}, b + end * columns, columns, minus);
    }
    return {n, exchanges};
}

// b (n x columns) becomes x with a x = b, where a (n x n) is triangular: no other part of it is
// read.
template <size_t N, size_t Columns, bool Lower, class T>
void solve_triangular_in_place(T const* a, T* b) {
    constexpr auto columns = static_cast<std::ptrdiff_t>(Columns);
    std::vector<T> minus;
    for (size_t done = 0; done < N; done += factor_block) {
        size_t const size = std::min(factor_block, N - done), left = N - done - size;
        size_t const first = Lower ? done : left, end = first + size;
        for (size_t step = 0; step != size; ++step) {
            size_t const k = Lower ? first + step : end - 1 - step;
            T const pivot = a[k * N + k];
            if (pivot == T(0)) {
                throw error({"castnet: solve: the triangular matrix is singular: element (", k,
                             ", ", k, ") is 0"});
            }
            T* const row = b + k * Columns;
            for (size_t j = 0; j < Columns; ++j) {
                row[j] /= pivot;
            }
            for (size_t i = Lower ? k + 1 : first; i < (Lower ? end : k); ++i) {
                subtract_row(b + i * Columns, a[i * N + k], row, Columns);
            }
        }
        size_t const next = Lower ? end : 0; // rows that are not solved yet
        subtract_product<T>(left, Columns, size, a + next * N + first, N,
                            {b + first * Columns, columns, 1}, b + next * Columns, Columns, minus);
    }
}

// The same by elimination with pivots, which changes a (n x n).
template <size_t N, size_t Columns, class T>
void solve_in_place(T* a, T* b) {
    if (size_t const k = eliminate<N, Columns>(a, b).columns; k != N) {
        throw error(
            {"castnet: solve: the matrix is singular: column ", k, " depends on those before it"});
    }
    solve_triangular_in_place<N, Columns, false>(a, b);
}

// The same of the smallest systems in registers, but of those that are singular.
template <size_t N, size_t Columns, class T>
void solve_one(T* a, T* b) {
    constexpr size_t most_numbers = 32;
    if constexpr (InVectors<T> && N * (N + Columns) <= most_numbers) {
        T left[N * N], right[N * Columns];
        std::copy_n(a, N * N, left);
        std::copy_n(b, N * Columns, right);
        if (solve_in_registers<N, Columns>(left, right)) {
            std::copy_n(right, N * Columns, b);
            return;
        }
    }
    solve_in_place<N, Columns>(a, b);
}

// The same of a batch of systems: small ones side by side.
template <size_t N, size_t Columns, class T>
void solve_all(size_t batch, T* a, T* b) {
    size_t done = 0;
    if constexpr (fits_side_by_side<T, N*(N + Columns)>) {
        constexpr size_t lanes = side_by_side<T, N * N>::lanes;
        for (; done + lanes <= batch; done += lanes) {
            side_by_side<T, N * N> left;
            side_by_side<T, N * Columns> right;
            left.load(a + done * N * N);
            right.load(b + done * N * Columns);
            if (!solve_side_by_side<N, Columns>(left, right)) {
                break; // one of these is singular
            }
            right.store(b + done * N * Columns);
        }
    }
    for (; done != batch; ++done) {
        solve_one<N, Columns>(a + done * N * N, b + done * N * Columns);
    }
}

} // namespace castnet::detail::inline CASTNET_VECTORS
