// Gradients of the weights of convolutions in narrow groups (grouped_conv.hpp): the sums of several
// taps stay in registers while the outputs that meet them pass by.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/cpu/vector.hpp>
#include <castnet/device/cpu/context.hpp>
#include <castnet/device/cpu/grouped_conv.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/cpu/sliding.hpp>
#include <castnet/device/cpu/taps.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace castnet::cpu::inline CASTNET_TARGET {

// Taps whose gradients are summed at once, that of each channel of a group in a register.
template <int Group>
inline constexpr int taps_at_once = std::clamp((vector_registers >= 32 ? 18 : 9) / Group, 1, 9);

// Some outputs, row by row, and the pixels that they meet at the first tap.
template <class T>
struct grouped_outputs {
    std::ptrdiff_t rows, columns, filters;
    T const* x;
    std::ptrdiff_t x_row, x_column;
    T const* dy;
    std::ptrdiff_t dy_row;
};

// Adds the gradients of some taps, which lie at these offsets in the image and in the sums.
template <int Group, int Taps, class T>
[[gnu::noinline]] CASTNET_WIDE_VECTORS void grouped_sums(grouped_outputs<T> const& o,
                                                         std::ptrdiff_t const* in_image,
                                                         std::ptrdiff_t const* in_sums, T* to) {
    constexpr std::ptrdiff_t width = simd<T>::width;
    std::ptrdiff_t const step = o.x_column, next = o.filters;
    for (std::ptrdiff_t first = 0; first < o.filters; first += width) {
        vec<T> sum[size_t(Taps)][size_t(Group)] = {};
        T const* row[size_t(Taps)];
        CASTNET_UNROLL
        for (int i = 0; i < Taps; ++i) {
            row[i] = o.x + first + in_image[i];
        }
        for (std::ptrdiff_t y = 0; y < o.rows; ++y) {
            T const* dy = o.dy + first + y * o.dy_row;
            std::ptrdiff_t at = y * o.x_row;
            for (std::ptrdiff_t const end = at + o.columns * step; at != end; at += step) {
                vec<T> const right = *reinterpret_cast<vec<T> const*>(dy);
                CASTNET_UNROLL
                for (int i = 0; i < Taps; ++i) {
                    for_each_channel<Group>(
                        [&]<int I>(std::integral_constant<int, I>) __attribute__((always_inline)) {
                            sum[i][I] =
                                multiply_add(spread<Group, I>(row[i] + at), right, sum[i][I]);
                        });
                }
                dy += next;
            }
        }
        std::ptrdiff_t const columns = std::min(width, o.filters - first);
        for (int i = 0; i < Taps; ++i) {
            T* total = to + in_sums[i] + first;
            for (int j = 0; j < Group; ++j, total += next) {
                if (columns == width) {
                    *reinterpret_cast<vec<T>*>(total) += sum[i][j];
                } else {
                    for (std::ptrdiff_t k = 0; k < columns; ++k) {
                        total[k] += sum[i][j][k];
                    }
                }
            }
        }
    }
}

// Adds the gradient of the weights by the outputs at the crossings of two runs, some rows at a time
// so that these stay in the cache. Columns may be joined: so the sums are those of as many weights.
template <int Group, class T>
void add_grouped_weight(window const& w, tap_run const& rows, tap_run const& columns,
                        grouped_image<T const> const& x, grouped_image<T const> const& dy,
                        T* sums) {
    constexpr int most_taps = taps_at_once<Group>;
    static constexpr auto add = []<size_t... I>(std::index_sequence<I...>) {
        return std::array{&grouped_sums<Group, int(I) + 1, T>...};
    }(std::make_index_sequence<size_t(most_taps)>{});
    std::ptrdiff_t in_image[size_t(most_taps)], in_sums[size_t(most_taps)];
    int const most_rows = std::max(1, band_pixels / columns.results),
              taps = rows.taps * columns.taps;
    int const joined = joined_columns<T>(w, w.out_width);
    auto const add_outputs = [&](grouped_outputs<T> const& o) {
        for (int first = 0; first < taps; first += most_taps) {
            int const here = std::min(most_taps, taps - first);
            for (int i = 0; i < here; ++i) {
                int const down = (first + i) / columns.taps, right = (first + i) % columns.taps;
                in_image[i] = down * rows.by_tap * x.row() + right * columns.by_tap * x.filters;
                in_sums[i] = (std::ptrdiff_t{rows.tap + down} * w.kernel_w + columns.tap + right) *
                             Group * joined * w.filters;
            }
            add[size_t(here) - 1](o, in_image, in_sums, sums);
        }
    };
    for (int row = 0; row < rows.results; row += most_rows) {
        grouped_outputs<T> o{std::min(most_rows, rows.results - row),
                             columns.results / joined,
                             std::ptrdiff_t{joined} * w.filters,
                             x.at(rows.source + row * rows.by_result, columns.source),
                             rows.by_result * x.row(),
                             std::ptrdiff_t{joined} * columns.by_result * x.filters,
                             dy.at(rows.result + row, columns.result),
                             dy.row()};
        if (o.columns > 0) {
            add_outputs(o);
        }
        if (int const rest = columns.results % joined) {
            o.x += o.columns * o.x_column;
            o.dy += o.columns * o.filters;
            o.columns = 1;
            o.filters = std::ptrdiff_t{rest} * w.filters;
            add_outputs(o);
        }
    }
}

template <class T>
constexpr std::ptrdiff_t grouped_weight_sums(window const& w) {
    return weight_count(w) * joined_columns<T>(w, w.out_width);
}
template <class T>
void grouped_conv_weight_begin(kernel_launch const& s, tables const& t, context<T> const& c) {
    std::fill_n(c.sum_at(t.arrays[s.sums]), grouped_weight_sums<T>(t.windows[s.window]), T(0));
}
template <class T>
void grouped_conv_weight_finish(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    array_ref const& sums = t.arrays[s.sums];
    T* out = c.at(t.arrays[s.output]);
    std::ptrdiff_t const filters = w.filters, joined = joined_columns<T>(w, w.out_width);
    if (joined == 1) {
        add_chunks(sums, c, weight_count(w), T(1), out);
        return;
    }
    for (std::ptrdiff_t tap = 0; tap < weight_count(w); tap += filters, out += filters) {
        std::fill_n(out, filters, T(0));
        for (std::ptrdiff_t chunk = 0; chunk < chunks_in_use(c.samples); ++chunk) {
            T const* const sum = c.sum_at(sums) + chunk * sums.chunk_stride + tap * joined;
            for (std::ptrdiff_t i = 0; i < joined * filters; ++i) {
                out[i % filters] += sum[i];
            }
        }
    }
}

// Of a chunk's samples.
template <int Group, class T>
void grouped_conv_weight(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T* const sums = c.sum_at(t.arrays[s.sums]);
    for (std::ptrdiff_t i = 0; i < c.samples; ++i) {
        T const* const image = c.at(t.arrays[s.first_array]) + i * image_count(w);
        grouped_image<T const> const x{widened(w, image, scratch_of(s, t, c)), w.height, w.width,
                                       w.filters};
        grouped_image<T const> const dy{c.at(t.arrays[s.first_array + 1]) + i * result_count(w),
                                        w.out_height, w.out_width, w.filters};
        for_each_output_run(vertical_axis(w), 0, w.out_height, [&](tap_run const& rows) {
            for_each_output_run(horizontal_axis(w), 0, w.out_width, [&](tap_run const& columns) {
                add_grouped_weight<Group>(w, rows, columns, x, dy, sums);
            });
        });
    }
}

} // namespace castnet::cpu::inline CASTNET_TARGET
