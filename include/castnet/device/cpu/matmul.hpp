// Dense layers: y = x W, and its two gradients. W lies as (features, units), so that all three read
// along rows.
#pragma once

#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/panels.hpp>
#include <castnet/device/cpu/runs.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/cpu/tuning.hpp>
#include <castnet/device/epilogue.hpp>

#include <algorithm>
#include <numeric>

namespace castnet::cpu::inline CASTNET_TARGET {

// What lies in a and will be read for the next rows.
template <class T>
void prefetch(matrix<T> const& a, std::ptrdiff_t rows, std::ptrdiff_t columns) {
    constexpr std::ptrdiff_t line = 64 / std::ptrdiff_t{sizeof(T)};
    std::ptrdiff_t const down = a.row == 1 ? line : 1, across = a.column == 1 ? line : 1;
    for (std::ptrdiff_t i = 0; i < rows; i += down) {
        for (std::ptrdiff_t j = 0; j < columns; j += across) {
            __builtin_prefetch(a.data + i * a.row + j * a.column, 0, 2);
        }
    }
}

// For a part of a panel, so much that the L1 cache keeps it.
template <class T>
struct panel_scratch {
    static constexpr std::ptrdiff_t size = 8192;
    alignas(64) T data[size];
};

// c (m x n) = a (m x k) times b (k x n).
//
// In blocks: of b as much as the L1 cache holds, packed where its rows are longer than a tile,
// meets a piece of a's rows. Rows of c lie c_row apart. Where it `turns`, c lies turned (as n x m),
// and m is at most most_transposed_rows.
template <class T>
void multiply_blocks(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, matrix<T> const& a,
                     matrix<T> const& b, T* c, std::ptrdiff_t c_row, tile_end<T> const& end,
                     bool turns) {
    constexpr std::ptrdiff_t width = tile_columns<T>, most = most_unpacked_steps;
    std::ptrdiff_t const panels = (n + width - 1) / width;
    bool const packs = panels > 1 || b.column != 1;
    std::ptrdiff_t const at_once = std::min(most, panel_scratch<T>::size / (packs ? width : n));
    std::ptrdiff_t const steps =
        std::clamp(k, std::ptrdiff_t{1}, at_once); // k is 0 without samples
    std::ptrdiff_t const piece = std::ptrdiff_t{panels > 1 ? 24 : 4} * tile_rows;
    std::ptrdiff_t const pieces = (m + piece - 1) / piece;
    parallel_for(panels * pieces, 2.0 * double(m) * double(n) * double(k), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const left = i / pieces * width, columns = std::min(width, n - left);
        std::ptrdiff_t const top = i % pieces * piece, bottom = std::min(top + piece, m);
        bool const pack = packs && (b.column != 1 || bottom - top > tile_rows);
        panel_scratch<T> packed;
        T turning[size_t(most_transposed_rows * width)];
        std::ptrdiff_t offset[most];
        for (std::ptrdiff_t s = 0; s < steps; ++s) {
            offset[s] = s * a.column;
        }
        // at least once: a sum over no samples is 0
        for (std::ptrdiff_t begin = 0; begin == 0 || begin < k; begin += steps) {
            matrix<T> const right{b.data + begin * b.row + left * b.column, b.row, b.column};
            tile_depth<T> d{std::min(steps, k - begin), offset, right.data, b.row};
            if (pack) {
                pack_panel(d.steps, columns, right, packed.data);
                d.b = packed.data;
                d.b_stride = width;
            }
            tile_end<T> mine{end.accumulate || begin > 0};
            if (begin + steps >= k) {
                mine.bias = end.bias ? end.bias + left : nullptr;
                mine.relu = end.relu;
            }
            for (std::ptrdiff_t first = top; first < bottom; first += tile_rows) {
                tile_pointers<T> p;
                for (std::ptrdiff_t r = first; r < std::min(first + tile_rows, bottom); ++r) {
                    p.push(a.data + r * a.row + begin * a.column,
                           turns ? turning + r * width : c + r * c_row + left);
                }
                p.repeat_last();
                std::ptrdiff_t const next = std::min(first + tile_rows, m - 1);
                prefetch<T>({a.data + next * a.row + begin * a.column, a.row, a.column},
                            std::min<std::ptrdiff_t>(tile_rows, m - next), d.steps);
                tile_panel(&p, 1, 0, static_cast<int>(columns), d, mine);
            }
        }
        if (turns) {
            transpose(m, columns, turning, width, c + left * c_row, c_row);
        }
    });
}

// The same where rows of a and b lie without gaps and k is at most most_unpacked_steps, so that
// each sum is made in the same order: it does not depend on m. Rows of a are a run, in pieces for
// threads.
template <class T>
void multiply_run(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, T const* a, T const* b,
                  T* c, tile_end<T> const& end) {
    constexpr std::ptrdiff_t piece = std::ptrdiff_t{8} * run_rows;
    std::ptrdiff_t const pieces = (m + piece - 1) / piece;
    parallel_for(pieces, 2.0 * double(m) * double(n) * double(k), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const top = m * i / pieces, rows = m * (i + 1) / pieces - top;
        std::ptrdiff_t offset[most_unpacked_steps];
        std::iota(offset, offset + k, std::ptrdiff_t{0});
        multiply_runs(a + top * k, {1, 0, 1, 0, rows, k}, {k, offset, b, n}, end, n, c + top * n);
    });
}

// c (m x n, rows c_row apart) = a (m x k) times b (k x n), ended so. The one place that decides
// how: with so few columns that a vector holds them, a tile of the usual rows would wait for its
// own sums, and vectors would be partly empty. So more rows are computed at once, or c turned.
template <class T>
[[gnu::noinline]] void multiply(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k,
                                matrix<T> const& a, matrix<T> const& b, T* c, std::ptrdiff_t c_row,
                                tile_end<T> const& end = {}) {
    bool const narrow = n <= simd<T>::width && m >= std::ptrdiff_t{2} * run_rows;
    bool const ends = end.bias || end.relu || end.accumulate;
    if (narrow && !end.accumulate && run_rows > tile_rows && k <= most_unpacked_steps &&
        a.column == 1 && a.row == k && b.column == 1 && b.row == n && c_row == n) {
        multiply_run(m, n, k, a.data, b.data, c, end);
    } else if (narrow && !ends && a.row == 1 && n < m) {
        static_assert(simd<T>::width <= most_transposed_rows);
        multiply_blocks<T>(n, m, k, {b.data, b.column, b.row}, {a.data, a.column, a.row}, c, c_row,
                           end, true);
    } else {
        multiply_blocks<T>(m, n, k, a, b, c, c_row, end, false);
    }
}

template <class T>
void matmul(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &x = t.arrays[s.first_array], &y = t.arrays[s.output];
    std::ptrdiff_t const in = x.size.channels, out = y.size.channels;
    pixel_rows const rows = rows_of(x.size, c), to = rows_of(y.size, c);
    multiply<T>(rows.count, out, in, {c.at(x) + rows.first * in, rows.step * in, 1},
                {c.at(t.arrays[s.first_array + 1]), out, 1}, c.at(y) + to.first * out,
                to.step * out, {.bias = bias_of(s, t, c), .relu = s.end.activates});
}

template <class T>
void matmul_data(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &g = t.arrays[s.first_array], &dx = t.arrays[s.output];
    std::ptrdiff_t const in = dx.size.channels, out = g.size.channels;
    multiply<T>(c.samples * g.size.pixels, in, out, {c.at(g), out, 1},
                {c.at(t.arrays[s.first_array + 1]), 1, out}, c.at(dx), in);
}

// In a loop, the weight is turned once for all iterations.
constexpr scratch_size turned_weight_scratch(kernel_launch const& s) {
    return {s.space.count()};
}
template <class T>
void turn_weight(kernel_launch const& s, tables const& t, context<T> const& c) {
    std::ptrdiff_t const in = t.arrays[s.output].size.channels, out = s.space.count() / in;
    transpose(in, out, c.at(t.arrays[s.first_array + 1]), out, c.at(t.arrays[s.scratch]), in);
}
template <class T>
void matmul_data_of_turned(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &g = t.arrays[s.first_array], &dx = t.arrays[s.output];
    std::ptrdiff_t const in = dx.size.channels, out = g.size.channels;
    pixel_rows const rows = rows_of(g.size, c), to = rows_of(dx.size, c);
    multiply<T>(rows.count, in, out, {c.at(g) + rows.first * out, rows.step * out, 1},
                {c.at(t.arrays[s.scratch]), in, 1}, c.at(dx) + to.first * in, to.step * in);
}

template <class T>
void matmul_weight(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &x = t.arrays[s.first_array], &g = t.arrays[s.first_array + 1];
    std::ptrdiff_t const in = x.size.channels, out = g.size.channels;
    multiply<T>(in, out, c.samples * x.size.pixels, {c.at(x), 1, in}, {c.at(g), out, 1},
                c.at(t.arrays[s.output]), out);
}

template <class T>
struct kernel_for<T, op::matmul> : function_kernel<T, &matmul<T>> {
    static constexpr bool whole(kernel_launch const&, window const*) { return true; }
};
template <class T>
struct kernel_for<T, op::matmul_data> {
    static constexpr kernel<T> of(kernel_launch const& s, window const*) {
        return s.loop < 0 ? kernel<T>{&matmul_data<T>}
                          : kernel<T>{&matmul_data_of_turned<T>, &turn_weight<T>};
    }
    static constexpr bool whole(kernel_launch const&, window const*) { return true; }
};
template <class T>
struct kernel_for<T, op::matmul_weight> : function_kernel<T, &matmul_weight<T>> {
    static constexpr bool whole(kernel_launch const&, window const*) { return true; }
};

} // namespace castnet::cpu::inline CASTNET_TARGET
