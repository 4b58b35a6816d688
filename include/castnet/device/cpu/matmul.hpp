// Dense layers: y = x W, and its two gradients. W lies as (features, units), so that all three read
// along rows; it is packed beforehand for the steps of a loop over time, and by a prediction where
// it meets many rows of a sample, such as the steps of a sequence.
#pragma once

#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/epilogue.hpp>
#include <castnet/device/cpu/few_rows.hpp>
#include <castnet/device/cpu/few_rows_packed.hpp>
#include <castnet/device/cpu/few_steps.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/panels.hpp>
#include <castnet/device/cpu/runs.hpp>
#include <castnet/device/cpu/threads.hpp>
#include <castnet/device/cpu/tuning.hpp>

#include <algorithm>
#include <numeric>

namespace castnet::cpu::inline CASTNET_TARGET {

// Whether the panels of b are read where they lie: few rows do not repay packing them. (Lines of
// narrow ones would drive each other out of the cache where b is large.)
constexpr bool reads_in_place(std::ptrdiff_t rows, std::ptrdiff_t bytes_of_b) {
    constexpr std::ptrdiff_t most = (has_narrow_panels ? 12 : 44) * std::ptrdiff_t{tile_rows};
    return rows <= most && (!has_narrow_panels || bytes_of_b <= 2 * l1_cache);
}

// Partition of a product among threads: pieces of its rows, and for each of these groups of its
// panels. There are as few pieces as the cache allows, since each packs the panels again, but
// several pieces and groups for each thread.
struct product_pieces {
    std::ptrdiff_t tiles, pieces, groups; // tiles of rows

    product_pieces(std::ptrdiff_t m, std::ptrdiff_t panels, std::ptrdiff_t at_most,
                   std::ptrdiff_t least_groups, std::ptrdiff_t threads)
        : tiles{(m + tile_rows - 1) / tile_rows}, pieces{(tiles + at_most - 1) / at_most},
          groups{least_groups} {
        if (threads > 1) {
            std::ptrdiff_t const items = 4 * threads;
            groups = std::clamp((items + pieces - 1) / pieces, groups, panels);
            pieces = std::clamp((items + groups - 1) / groups, pieces, (tiles + 3) / 4);
        }
    }
    std::ptrdiff_t first_row(std::ptrdiff_t piece) const {
        return tiles * piece / pieces * tile_rows;
    }
};

// Work of a product, as loops count it.
constexpr double product_work(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k) {
    return 2.0 * double(m) * double(n) * double(k) / product_speed;
}

// In blocks: of b as much as the cache holds meets a piece of a's rows. All of b is `packed` in
// panels already, or its parts are where its rows are longer than a tile. Few rows may read packed
// panels `backwards`.
template <class F>
void multiply_blocks(product<sum_type<F>> const& p, F const* packed = nullptr,
                     bool backwards = false) {
    constexpr std::ptrdiff_t width = tile_columns<F>, most = most_steps_at_once;
    std::ptrdiff_t const m = p.m, panels = panel_count(p.n, width);
    bool const packs = panels > 1 || p.b.column != 1 || numbers_in<F> > 1;
    std::ptrdiff_t const at_once = std::min(most, panel_scratch<F>::size / (packs ? width : p.n));
    std::ptrdiff_t const steps =
        std::clamp(steps_of<F>(p.k), std::ptrdiff_t{1}, at_once); // k is 0 without samples
    if ((panels > 1 || p.b.column != 1) && !p.turns && !packed) {
        if (has_few_rows<F>(p)) {
            multiply_few_rows<F>(p, steps * numbers_in<F>);
            return;
        }
        if constexpr (numbers_in<F> == 1) {
            if (has_few_steps(p)) {
                multiply_few_steps(p);
                return;
            }
        }
    }
    double const work = product_work(m, p.n, p.k);
    if constexpr (numbers_in<F> == 1) {
        if (packed && m > 0 && m <= tile_rows && threads_for(work) == 1) {
            flush_denormals const here;
            multiply_few_rows_packed(p, packed, steps, backwards);
            return;
        }
    }
    // rows that lie turned are not read ahead by the processor, so they stay in its cache
    bool const by_parts = p.a.column != 1 && !p.turns;
    std::ptrdiff_t const at_most = has_narrow_panels && by_parts && numbers_in<F> == 1
                                       ? most_packed_rows<F> / tile_rows
                                       : most_tiles;
    product_pieces const share{m, panels, at_most, by_parts ? 1 : panels, threads_for(work)};
    std::ptrdiff_t const bytes_of_b = p.k * p.n * std::ptrdiff_t{sizeof(sum_type<F>)};
    parallel_for(share.pieces * share.groups, work, [&](std::ptrdiff_t i) {
        std::ptrdiff_t const piece = i / share.groups, group = i % share.groups,
                             top = share.first_row(piece),
                             bottom = std::min(share.first_row(piece + 1), m),
                             left = panels * group / share.groups * width,
                             right = std::min(panels * (group + 1) / share.groups * width, p.n);
        bool const in_place =
            p.b.column == 1 && !p.has_zeros && reads_in_place(bottom - top, bytes_of_b);
        multiply_panels<F>(p, left, right, top, bottom, steps, packs && !in_place, packed);
    });
}

// The same where rows of a and b lie without gaps and k is at most most_steps_at_once, so that
// each sum is made in the same order: it does not depend on m. Rows of a are a run, in pieces for
// threads.
template <class T>
void multiply_run(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, T const* a, T const* b,
                  T* c, tile_end<T> const& end) {
    constexpr std::ptrdiff_t piece = std::ptrdiff_t{8} * run_rows;
    std::ptrdiff_t const pieces = (m + piece - 1) / piece;
    parallel_for(pieces, product_work(m, n, k), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const top = m * i / pieces, rows = m * (i + 1) / pieces - top;
        std::ptrdiff_t offset[most_steps_at_once];
        std::iota(offset, offset + k, std::ptrdiff_t{0});
        multiply_runs(a + top * k, {1, 0, 1, 0, rows, k}, {k, offset, b, n}, end, n, c + top * n);
    });
}

// Every other step of a loop over time reads its weights backwards.
template <class T>
bool reads_backwards(context<T> const& c) {
    return c.iteration >= 0 && c.iteration % 2 != 0;
}

// The factors of a layer with so many features and units: F where that is worth it, else numbers.
template <class F, class Call>
constexpr void with_factors(std::ptrdiff_t features, std::ptrdiff_t units, Call const& call) {
    if constexpr (numbers_in<F> > 1) {
        if (std::min(features, units) < least_rounded) {
            call.template operator()<sum_type<F>>();
            return;
        }
    }
    call.template operator()<F>();
}

// Whether c has columns for a few vectors, of which so much would be empty that it takes a tenth
// less to compute c turned. Threads then share less, so this is for small products, such as those
// of attention's heads. (Narrower vectors than those of 64 bytes leave less empty than turning
// costs.)
template <class T>
constexpr bool fills_more_turned(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k) {
    constexpr auto whole = [](std::ptrdiff_t count, std::ptrdiff_t unit) {
        return (count + unit - 1) / unit * unit;
    };
    constexpr std::ptrdiff_t width = simd<T>::width;
    return width * sizeof(T) >= 64 && n <= most_turned_rows && m >= tile_columns<T> &&
           2.0 * double(m) * double(n) * double(k) <= 4 * worthwhile_flops &&
           10 * whole(m, width) * whole(n, tile_rows) < 9 * whole(m, tile_rows) * whole(n, width);
}

// Whether rows that fill the vectors of a panel meet a right factor that lies turned: to pack that
// takes longer than to compute c turned, for which only a is packed.
template <class T>
constexpr bool fills_vectors_turned(product<T> const& p) {
    return p.m % simd<T>::width == 0 && p.m <= tile_columns<T> && p.n >= most_turned_rows &&
           p.k >= tile_columns<T> && p.a.column == 1 && p.b.row == 1 && p.b.column != 1 &&
           !has_few_rows_turned(p);
}

// c = a * b in blocks of columns, each computed turned. The sums are those of multiply_blocks.
template <class T>
void multiply_turned_blocks(product<T> const& p) {
    std::ptrdiff_t const blocks = (p.n + most_turned_rows - 1) / most_turned_rows,
                         steps = std::min(
                             {most_steps_at_once, panel_scratch<T>::size / tile_columns<T>, p.k});
    parallel_for(blocks, product_work(p.m, p.n, p.k), [&](std::ptrdiff_t i) {
        std::ptrdiff_t const first = p.n * i / blocks, count = p.n * (i + 1) / blocks - first;
        matrix<T> const rows{p.b.data + first * p.b.column, p.b.column, p.b.row},
            columns{p.a.data, p.a.column, p.a.row};
        product<T> const turned{count, p.m, p.k, rows, columns, p.c + first, p.c_row, {}, true};
        multiply_panels<T>(turned, 0, p.m, 0, count, steps, true);
    });
}

// c (m x n, rows c_row apart) = a (m x k) times b (k x n), ended so. The one place that decides
// how: with so few columns that a vector holds them, a tile of the usual rows would wait for its
// own sums, and vectors would be partly empty. So more rows are computed at once, or c turned.
// Where b has many rows of zeros and a lies turned, these are left out.
template <class F>
[[gnu::noinline]] void multiply(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k,
                                matrix<sum_type<F>> const& a, matrix<sum_type<F>> const& b,
                                sum_type<F>* c, std::ptrdiff_t c_row,
                                tile_end<sum_type<F>> const& end = {}, bool has_zeros = false) {
    if constexpr (numbers_in<F> > 1) {
        multiply_blocks<F>({m, n, k, a, b, c, c_row, end});
        return;
    }
    using T = sum_type<F>;
    bool const narrow = n <= simd<T>::width && m >= std::ptrdiff_t{2} * run_rows;
    bool const ends = end.bias || end.rectifies;
    if (narrow && !end.accumulate && run_rows > tile_rows && k <= most_steps_at_once &&
        a.column == 1 && a.row == k && b.column == 1 && b.row == n && c_row == n) {
        multiply_run(m, n, k, a.data, b.data, c, end);
    } else if (!ends && a.row == 1 && n < m && (narrow || fills_more_turned<T>(m, n, k))) {
        static_assert(simd<T>::width <= most_turned_rows);
        multiply_blocks<T>(
            {n, m, k, {b.data, b.column, b.row}, {a.data, a.column, a.row}, c, c_row, end, true});
    } else if (product<T> const p{m, n, k, a, b, c, c_row, end, false, has_zeros};
               !ends && !end.accumulate && fills_vectors_turned(p)) {
        multiply_turned_blocks(p);
    } else {
        multiply_blocks<T>(p);
    }
}

// Whether a weight is packed before the product: once for all steps of a loop, or where it stays
// the same from run to run. (The few rows of samples without pixels read it where it lies.)
template <class F>
constexpr bool packs_weight(kernel_launch const& s) {
    bool const many_rows = s.constant_weight && s.flops >= 2 * least_packed_rows * s.weight.count();
    return s.weight.pixels > tile_columns<F> && (s.loop >= 0 || many_rows);
}
template <class F>
void pack_weight(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    std::ptrdiff_t const in = s.weight.channels, out = s.weight.pixels;
    auto const* const weight = c.at(t.arrays[s.first_array + 1]);
    with_factors<F>(in, out, [&]<class Factor>() {
        constexpr std::ptrdiff_t width = tile_columns<Factor>;
        Factor* const to = factors_at<Factor>(c, t.arrays[s.prepared]);
        parallel_for(panel_count(out, width), double(s.weight.count()), [&](std::ptrdiff_t i) {
            std::ptrdiff_t const left = i * width;
            pack_panel<Factor>(in, std::min(width, out - left), {weight + left, out, 1},
                               to + left * steps_of<Factor>(in));
        });
    });
}

template <class F>
void matmul(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    array_ref const &x = t.arrays[s.first_array], &y = t.arrays[s.output];
    std::ptrdiff_t const in = x.size.channels, out = y.size.channels;
    pixel_rows const rows = rows_of(x.size, c), to = rows_of(y.size, c);
    with_factors<F>(in, out, [&]<class Factor>() {
        matrix<sum_type<F>> const left{c.at(x) + rows.first * in, rows.step * in, 1},
            right{c.at(t.arrays[s.first_array + 1]), out, 1};
        auto* const result = c.at(y) + to.first * out;
        tile_end<sum_type<F>> const end = tile_end_of(s, t, c);
        if (packs_weight<F>(s)) {
            multiply_blocks<Factor>({rows.count, out, in, left, right, result, to.step * out, end},
                                    factors_at<Factor>(c, t.arrays[s.prepared]),
                                    reads_backwards(c));
        } else {
            multiply<Factor>(rows.count, out, in, left, right, result, to.step * out, end);
        }
    });
}

template <class F>
void matmul_data(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    array_ref const &g = t.arrays[s.first_array], &dx = t.arrays[s.output];
    std::ptrdiff_t const in = dx.size.channels, out = g.size.channels;
    with_factors<F>(in, out, [&]<class Factor>() {
        multiply<Factor>(c.samples * g.size.pixels, in, out, {c.at(g), out, 1},
                         {c.at(t.arrays[s.first_array + 1]), 1, out}, c.at(dx), in);
    });
}

// In a loop, the weight is turned once for all iterations; and packed, where it has more columns
// than a tile.
template <class T>
void turn_weight(kernel_launch const& s, tables const& t, context<T> const& c) {
    std::ptrdiff_t const in = t.arrays[s.output].size.channels, out = s.weight.count() / in;
    T const* const weight = c.at(t.arrays[s.first_array + 1]);
    T* const to = c.at(t.arrays[s.prepared]);
    if (in > tile_columns<T>) {
        pack_panels<T>(out, in, {weight, 1, out}, to);
    } else {
        transpose(in, out, weight, out, to, in);
    }
}
template <class T>
void matmul_data_of_turned(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &g = t.arrays[s.first_array], &dx = t.arrays[s.output];
    std::ptrdiff_t const in = dx.size.channels, out = g.size.channels;
    pixel_rows const rows = rows_of(g.size, c), to = rows_of(dx.size, c);
    matrix<T> const left{c.at(g) + rows.first * out, rows.step * out, 1},
        turned{c.at(t.arrays[s.prepared]), in, 1};
    T* const result = c.at(dx) + to.first * in;
    if (in > tile_columns<T>) {
        multiply_blocks<T>({rows.count, in, out, left, turned, result, to.step * in}, turned.data,
                           reads_backwards(c));
    } else {
        multiply<T>(rows.count, in, out, left, turned, result, to.step * in);
    }
}

// Whether at least half of the samples have no gradient in their last step, as sequences that end
// before it.
template <class T>
bool many_end_early(T const* gradient, extents size, std::ptrdiff_t samples) {
    std::ptrdiff_t count = 0;
    for (std::ptrdiff_t i = 0; i < samples && size.pixels > 1; ++i) {
        count += all_zero(gradient + (i + 1) * size.count() - size.channels, size.channels);
    }
    return samples > 0 && 2 * count >= samples;
}

template <class F>
void matmul_weight(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    array_ref const &x = t.arrays[s.first_array], &g = t.arrays[s.first_array + 1];
    std::ptrdiff_t const in = x.size.channels, out = g.size.channels;
    bool const has_zeros = many_end_early(c.at(g), g.size, c.samples);
    with_factors<F>(in, out, [&]<class Factor>() {
        multiply<Factor>(in, out, c.samples * x.size.pixels, {c.at(x), 1, in}, {c.at(g), out, 1},
                         c.at(t.arrays[s.output]), out, {}, has_zeros);
    });
}

// For the weight in another form.
template <class F>
constexpr scratch_size matmul_scratch(kernel_launch const& s) {
    using T = sum_type<F>;
    std::ptrdiff_t const in = s.weight.channels, out = s.weight.pixels;
    std::ptrdiff_t size = 0;
    if (s.kind == op::matmul_data && s.loop >= 0) {
        size = in > tile_columns<T> ? packed_size<T>(out, in) : in * out;
    } else if (s.kind == op::matmul && s.loop >= 0 && packs_weight<T>(s)) {
        size = packed_size<T>(in, out);
    } else if (s.kind == op::matmul && s.loop < 0 && packs_weight<F>(s)) {
        with_factors<F>(in, out, [&]<class Factor>() {
            size = packed_size<Factor>(steps_of<Factor>(in), out);
        });
    }
    return {0, 0, 0, size};
}

template <class F>
constexpr kernel<sum_type<F>> matmul_kernel(kernel_launch const& s) {
    return {&matmul<F>, packs_weight<F>(s) ? &pack_weight<F> : nullptr};
}

// In a loop over time, factors would be rounded in every step.
template <class F>
struct kernel_for<F, op::matmul> {
    using T = sum_type<F>;
    static constexpr kernel<T> of(kernel_launch const& s, window const*) {
        return s.loop < 0 ? matmul_kernel<F>(s) : matmul_kernel<T>(s);
    }
    static constexpr bool whole(kernel_launch const&, window const*) { return true; }
};
template <class F>
struct kernel_for<F, op::matmul_data> {
    using T = sum_type<F>;
    static constexpr kernel<T> of(kernel_launch const& s, window const*) {
        return s.loop < 0 ? kernel<T>{&matmul_data<F>}
                          : kernel<T>{&matmul_data_of_turned<T>, &turn_weight<T>};
    }
    static constexpr bool whole(kernel_launch const&, window const*) { return true; }
};
template <class F>
struct kernel_for<F, op::matmul_weight> {
    static constexpr kernel<sum_type<F>> of(kernel_launch const&, window const*) {
        return {&matmul_weight<F>};
    }
    static constexpr bool whole(kernel_launch const&, window const*) { return true; }
};

} // namespace castnet::cpu::inline CASTNET_TARGET
