// Convolutions of images of one or two channels, and the gradients of their weights: the first
// layers of many networks, for which the libraries have no tensor-core kernels, since these take
// channels by eights.
#pragma once

#include <castnet/device/cuda/epilogue.hpp>
#include <castnet/device/cuda/lanes.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/reduce_body.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/device/quotient.hpp>
#include <castnet/device/reducer.hpp>

#include <cstdint>
#include <type_traits>

namespace castnet::cuda {

// Filters of a thread, whose sums are of type T: 16 bytes of elements of type S, or less.
template <class T, class S>
inline constexpr int filters_of_thread =
    lanes_of<S> < 2 * lanes_of<T> ? lanes_of<S> : 2 * lanes_of<T>;

// Numbers of a filter.
CASTNET_HD constexpr int taps_of(window const& w) {
    return w.kernel_h * w.kernel_w * w.channels;
}

// Where the numbers of a filter meet an image, in steps from the place of its window; beyond them,
// in no image. Among a kernel's arguments, which all threads read at once.
struct tap_table {
    static constexpr int most = 63; // a multiple of those that a thread sums up (below)
    struct tap {
        int row, column, offset; // of the image's elements
    };
    tap at[most];

    explicit tap_table(window const& w) {
        for (int i = 0; i < most; ++i) {
            int const channel = i % w.channels, place = i / w.channels, u = place / w.kernel_w,
                      v = place % w.kernel_w;
            int const row = u * w.dilation_h - w.pad_top, column = v * w.dilation_w - w.pad_left;
            at[i] = {u < w.kernel_h ? row : -(1 << 30), column,
                     (row * w.width + column) * w.channels + channel};
        }
    }
};

// Whether these kernels compute a convolution or the gradient of its weight, with so many filters
// for a thread. (The weights of a block lie in shared memory.)
constexpr bool has_few_channels(op kind, window const& w, int lanes) {
    return kind != op::conv_data && w.channels <= 2 && w.groups == 1 && w.filters % lanes == 0 &&
           taps_of(w) <= tap_table::most && taps_of(w) * w.filters <= 4096;
}

// Neighbouring filters at neighbouring places of a row of the result, by a thread; images, weights
// and the result in elements of type S.
template <class T, class S>
struct few_channels_body {
    static constexpr int lanes = filters_of_thread<T, S>, places = 4;

    window w;
    tap_table table;
    S const *image, *weight;
    stored<T> bias; // or none
    S* result;
    bool is_relu;
    quotient taps, units, parts, rows; // of a filter; of the filters; of a row; of an image
    std::uint32_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        T* const factors = block.template shared<T>(); // (taps, filters)
        auto const filters = static_cast<std::uint32_t>(w.filters);
        CASTNET_NO_UNROLL
        for (std::uint32_t i = block.thread(); i < taps.divisor * filters; i += block.threads()) {
            std::uint32_t const filter = taps.divide(i), tap = i - filter * taps.divisor;
            factors[tap * filters + filter] = T(weight[i]);
        }
        block.sync();
        for_each_index(block, count, [&](std::uint32_t n) {
            std::uint32_t const line = units.divide(n), unit = n - line * units.divisor,
                                row_of_all = parts.divide(line),
                                part = line - row_of_all * parts.divisor,
                                sample = rows.divide(row_of_all),
                                row = row_of_all - sample * rows.divisor;
            compute(factors + unit * lanes, sample, int(row), int(part) * places,
                    int(unit) * lanes);
        });
    }

private:
    CASTNET_HD void compute(T const* factors, std::uint32_t sample, int row, int column,
                            int filter) const {
        T sum[places][lanes];
        CASTNET_UNROLL
        for (int i = 0; i < lanes; ++i) {
            T const start = bias ? bias.get(filter + i) : T(0);
            CASTNET_UNROLL
            for (int k = 0; k < places; ++k) {
                sum[k][i] = start;
            }
        }
        int const top = row * w.stride_h, left = column * w.stride_w;
        S const* const from = image + sample * unsigned(w.height * w.width * w.channels) +
                              (top * w.width + left) * w.channels;
        for (unsigned t = 0; t < taps.divisor; ++t, factors += w.filters) {
            auto const tap = table.at[t];
            bool const in_rows = unsigned(top + tap.row) < unsigned(w.height);
            T factor[lanes];
            load_lanes(factors, factor);
            CASTNET_UNROLL
            for (int k = 0; k < places; ++k) {
                int const across = k * w.stride_w;
                bool const inside =
                    in_rows && unsigned(left + across + tap.column) < unsigned(w.width);
                T const x = inside ? T(from[tap.offset + across * w.channels]) : T(0);
                CASTNET_UNROLL
                for (int i = 0; i < lanes; ++i) {
                    sum[k][i] += x * factor[i];
                }
            }
        }
        S* const to = result +
                      (((sample * unsigned(w.out_height) + unsigned(row)) * unsigned(w.out_width)) +
                       unsigned(column)) *
                          unsigned(w.filters) +
                      filter;
        CASTNET_UNROLL
        for (int k = 0; k < places; ++k) {
            if (column + k < w.out_width) {
                CASTNET_UNROLL
                for (int i = 0; i < lanes; ++i) {
                    sum[k][i] = is_relu && !(sum[k][i] > T(0)) ? T(0) : sum[k][i];
                }
                store_lanes(sum[k], to + k * w.filters);
            }
        }
    }
};

// The gradients of weights as a reduction (reduce_body.hpp): a result is a group of taps of
// neighbouring filters, an element a place of the convolution's result.
template <class T, class S>
struct few_channels_weight_source {
    static constexpr int results = 9, lanes = filters_of_thread<T, S>; // taps of a group
    static constexpr bool may_split = true, in_lanes = true;

    window w;
    tap_table table;
    S const *image, *gradient;
    S* weight_gradient;
    quotient units, places, columns; // of the filters; of the result

    template <class F>
    CASTNET_HD void visit(std::uint32_t result, F const& f) const {
        std::uint32_t const group = units.divide(result), unit = result - group * units.divisor;
        auto const* const taps = table.at + group * results;
        f(std::integral_constant<int, 1>{}, [&](std::uint32_t element, auto& parts) {
            std::uint32_t const sample = places.divide(element),
                                place = element - sample * places.divisor,
                                line = columns.divide(place);
            int const row = int(line) * w.stride_h,
                      column = int(place - line * columns.divisor) * w.stride_w;
            T g[lanes];
            load_lanes(gradient + element * unsigned(w.filters) + unit * lanes, g);
            S const* const from = image + sample * unsigned(w.height * w.width * w.channels) +
                                  (row * w.width + column) * w.channels;
            CASTNET_UNROLL
            for (int k = 0; k < results; ++k) {
                auto const tap = taps[k];
                bool const inside = bool(int(unsigned(row + tap.row) < unsigned(w.height)) &
                                         int(unsigned(column + tap.column) < unsigned(w.width)));
                T const x = inside ? T(from[tap.offset]) : T(0);
                CASTNET_UNROLL
                for (int i = 0; i < lanes; ++i) {
                    parts[k * lanes + i].take(x * g[i], 0);
                }
            }
        });
    }

    template <class Reducers>
    CASTNET_HD void store(std::uint32_t result, Reducers const& sums) const {
        std::uint32_t const group = units.divide(result), unit = result - group * units.divisor,
                            taps = unsigned(taps_of(w));
        CASTNET_UNROLL
        for (int k = 0; k < results; ++k) {
            std::uint32_t const tap = group * results + unsigned(k);
            CASTNET_UNROLL
            for (int i = 0; i < lanes; ++i) {
                if (tap < taps) {
                    weight_gradient[(unit * lanes + unsigned(i)) * taps + tap] =
                        S(sums[k * lanes + i].result(T(1)));
                }
            }
        }
    }
};

template <class S, class Context>
void convolve_few_channels(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    window const& w = t.windows[s.window];
    auto const at = [&](int i) { return reinterpret_cast<S*>(c.at(t.arrays[i])); };
    std::ptrdiff_t const units = w.filters / filters_of_thread<T, S>,
                         places = w.out_height * w.out_width;
    if (s.kind == op::conv) {
        using body = few_channels_body<T, S>;
        std::ptrdiff_t const parts = (w.out_width + body::places - 1) / body::places,
                             count = images_of(w, c) * w.out_height * parts * units;
        body b{w,
               tap_table(w),
               at(s.first_array),
               at(s.first_array + 1),
               s.end.bias ? stored_at(c, t.arrays[s.output - 1]) : stored<T>{},
               at(s.output),
               s.end.activates,
               quotient(taps_of(w)),
               quotient(units),
               quotient(parts),
               quotient(w.out_height),
               static_cast<std::uint32_t>(count)};
        grid g = grid_for(count);
        g.shared_bytes = std::size_t(taps_of(w) * w.filters) * sizeof(T);
        c.launch(g, b);
        return;
    }
    using source = few_channels_weight_source<T, S>;
    using body = reduce_body<source, ir::reducer<reduction::sum, T>, T>;
    std::ptrdiff_t const groups = (taps_of(w) + source::results - 1) / source::results,
                         results = groups * units;
    reduce_shape const shape = shape_reduction(results, images_of(w, c) * places, true,
                                               most_splits<source>(results, c.parts.elements));
    body const b{{w, tap_table(w), at(s.first_array), at(s.first_array + 1), at(s.output),
                  quotient(units), quotient(places), quotient(w.out_width)},
                 shape,
                 quotient(shape.groups()),
                 T(1),
                 {},
                 c.parts};
    c.launch({shape.groups() * shape.splits, block_threads, body::shared_bytes}, b);
}

// Whether they do, of a launch.
template <class Context>
bool has_few_channels(kernel_launch const& s, tables const& t, Context const&) {
    using T = typename Context::value_type;
    bool const bf16 = t.arrays[s.first_array].is_bf16;
    return has_few_channels(s.kind, t.windows[s.window],
                            bf16 ? filters_of_thread<T, bfloat16> : filters_of_thread<T, T>);
}
template <class Context>
void convolve_few_channels(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    if (t.arrays[s.first_array].is_bf16) {
        convolve_few_channels<bfloat16>(s, t, c);
    } else {
        convolve_few_channels<T>(s, t, c);
    }
}

} // namespace castnet::cuda
