// Pooling and up-sampling, forward and backward. A thread computes one element of the result; the
// gradients gather from all windows that an element lies in, so nothing is added by two threads.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/quotient.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/window_range.hpp>

namespace castnet::cuda {

// The part of a window that lies in the image, along one axis.
CASTNET_HD inline pixel_range window_at(int out, int stride, int pad, int kernel, int size) {
    int const begin = out * stride - pad, end = begin + kernel;
    return {begin > 0 ? begin : 0, end < size ? end : size};
}

// The windows that a pixel lies in, along one axis.
CASTNET_HD inline pixel_range windows_over(int in, int stride, int pad, int kernel, int count) {
    int const first = in + pad - kernel, last = (in + pad) / stride + 1;
    return {first < 0 ? 0 : first / stride + 1, last < count ? last : count};
}

// Calls f(sample, row, column, channel, place in memory) for every element of images of this size.
struct image_loop {
    quotient channels, columns, rows;
    std::ptrdiff_t count;

    CASTNET_HD image_loop(std::ptrdiff_t samples, int height, int width, int depth)
        : channels(depth), columns(width), rows(height), count{samples * height * width * depth} {}

    template <class Block, class F>
    CASTNET_HD void run(Block const& block, F const& f) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            auto const n = static_cast<std::uint32_t>(i);
            std::uint32_t const pixel = channels.divide(n), line = columns.divide(pixel),
                                sample = rows.divide(line);
            f(std::ptrdiff_t{sample}, int(line - sample * rows.divisor),
              int(pixel - line * columns.divisor), int(n - pixel * channels.divisor), i);
        });
    }
};

// Where an element of the windows' input or output lies.
CASTNET_HD inline std::ptrdiff_t in_place(window const& w, std::ptrdiff_t sample, int y, int x,
                                          int channel) {
    return ((sample * w.height + y) * w.width + x) * w.channels + channel;
}
CASTNET_HD inline std::ptrdiff_t out_place(window const& w, std::ptrdiff_t sample, int y, int x,
                                           int channel) {
    return ((sample * w.out_height + y) * w.out_width + x) * w.channels + channel;
}

CASTNET_HD inline pixel_range rows_of(window const& w, int out_row) {
    return w.adaptive ? adaptive_range(out_row, w.out_height, w.height)
                      : window_at(out_row, w.stride_h, w.pad_top, w.kernel_h, w.height);
}
CASTNET_HD inline pixel_range columns_of(window const& w, int out_column) {
    return w.adaptive ? adaptive_range(out_column, w.out_width, w.width)
                      : window_at(out_column, w.stride_w, w.pad_left, w.kernel_w, w.width);
}

// Sums f(output row, output column) over all windows that the pixel lies in, in their order.
template <class T, class F>
CASTNET_HD T sum_over_windows(window const& w, int row, int column, F const& f) {
    pixel_range const rows =
        w.adaptive ? adaptive_windows(row, w.out_height, w.height)
                   : windows_over(row, w.stride_h, w.pad_top, w.kernel_h, w.out_height);
    pixel_range const columns =
        w.adaptive ? adaptive_windows(column, w.out_width, w.width)
                   : windows_over(column, w.stride_w, w.pad_left, w.kernel_w, w.out_width);
    T sum = 0;
    for (int r = rows.first; r < rows.last; ++r) {
        for (int c = columns.first; c < columns.last; ++c) {
            sum += f(r, c);
        }
    }
    return sum;
}

// One over the number of pixels that a window's average counts.
template <class T>
CASTNET_HD T share_of(window const& w, int out_row, int out_column) {
    pixel_range const rows = rows_of(w, out_row), columns = columns_of(w, out_column);
    return T(1) / T(w.count_padding ? w.kernel_h * w.kernel_w
                                    : (rows.last - rows.first) * (columns.last - columns.first));
}

// The rules of the kernels below: the value of one element of the result from operands a and b.
// a: which pixel of each window was the largest.
struct max_pool_gradient_rule {
    template <class T>
    CASTNET_HD static T at(window const& w, stored<T> const& argmax, stored<T> const& dy,
                           std::ptrdiff_t sample, int row, int column, int channel) {
        return sum_over_windows<T>(w, row, column, [&](int r, int c) {
            pixel_range const rows = rows_of(w, r), columns = columns_of(w, c);
            int const number =
                (row - rows.first) * (columns.last - columns.first) + column - columns.first;
            std::ptrdiff_t const place = out_place(w, sample, r, c, channel);
            return argmax.get(place) == T(number) ? dy.get(place) : T(0);
        });
    }
};

struct avg_pool_rule {
    template <class T>
    CASTNET_HD static T at(window const& w, stored<T> const& x, stored<T> const&,
                           std::ptrdiff_t sample, int row, int column, int channel) {
        pixel_range const rows = rows_of(w, row), columns = columns_of(w, column);
        T sum = 0;
        for (int r = rows.first; r < rows.last; ++r) {
            for (int c = columns.first; c < columns.last; ++c) {
                sum += x[in_place(w, sample, r, c, channel)];
            }
        }
        return sum * share_of<T>(w, row, column);
    }
};

struct avg_pool_gradient_rule {
    template <class T>
    CASTNET_HD static T at(window const& w, stored<T> const& dy, stored<T> const&,
                           std::ptrdiff_t sample, int row, int column, int channel) {
        return sum_over_windows<T>(w, row, column, [&](int r, int c) {
            return dy[out_place(w, sample, r, c, channel)] * share_of<T>(w, r, c);
        });
    }
};

struct upsample_rule {
    template <class T>
    CASTNET_HD static T at(window const& w, stored<T> const& x, stored<T> const&,
                           std::ptrdiff_t sample, int row, int column, int channel) {
        if (w.bilinear) {
            return interpolated_pixel(w, x, sample, row, column, channel);
        }
        return x[in_place(w, sample, row / w.kernel_h, column / w.kernel_w, channel)];
    }

private:
    template <class T>
    CASTNET_HD static T interpolated_pixel(window const& w, stored<T> const& x,
                                           std::ptrdiff_t sample, int row, int column,
                                           int channel) {
        auto const r = interpolate<T>(row, w.kernel_h, w.height);
        auto const c = interpolate<T>(column, w.kernel_w, w.width);
        auto const in_row = [&](int y) {
            return (T(1) - c.share) * x[in_place(w, sample, y, c.first, channel)] +
                   c.share * x[in_place(w, sample, y, c.second, channel)];
        };
        return (T(1) - r.share) * in_row(r.first) + r.share * in_row(r.second);
    }
};

struct upsample_gradient_rule {
    template <class T>
    CASTNET_HD static T at(window const& w, stored<T> const& dy, stored<T> const&,
                           std::ptrdiff_t sample, int row, int column, int channel) {
        if (w.bilinear) {
            return interpolated_sum(w, dy, sample, row, column, channel);
        }
        T sum = 0;
        for (int r = row * w.kernel_h; r < (row + 1) * w.kernel_h; ++r) {
            for (int c = column * w.kernel_w; c < (column + 1) * w.kernel_w; ++c) {
                sum += dy[out_place(w, sample, r, c, channel)];
            }
        }
        return sum;
    }

private:
    template <class T>
    CASTNET_HD static T interpolated_sum(window const& w, stored<T> const& dy,
                                         std::ptrdiff_t sample, int row, int column, int channel) {
        pixel_range const rows = interpolated_from(row, w.kernel_h, w.height);
        pixel_range const columns = interpolated_from(column, w.kernel_w, w.width);
        T sum = 0;
        for (int r = rows.first; r < rows.last; ++r) {
            T const of_row = interpolate<T>(r, w.kernel_h, w.height).weight(row);
            for (int c = columns.first; c < columns.last; ++c) {
                sum += of_row * interpolate<T>(c, w.kernel_w, w.width).weight(column) *
                       dy[out_place(w, sample, r, c, channel)];
            }
        }
        return sum;
    }
};

template <class Rule, class T>
struct image_body {
    image_loop loop;
    window w;
    stored<T> a, b, out;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        loop.run(block, [&](std::ptrdiff_t sample, int row, int column, int channel,
                            std::ptrdiff_t place) {
            out[place] = Rule::at(w, a, b, sample, row, column, channel);
        });
    }
};

// The result is as large as the windows' output (forward) or input (backward).
CASTNET_CALLS_UNCHECKED
template <class Rule, bool Forward, class Context>
CASTNET_HD void run_on_images(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    window const& w = t.windows[s.window];
    image_loop const loop{c.samples, Forward ? w.out_height : w.height,
                          Forward ? w.out_width : w.width, w.channels};
    stored<T> const a = stored_at(c, t.arrays[s.first_array]);
    stored<T> const b = s.arrays > 1 ? stored_at(c, t.arrays[s.first_array + 1]) : stored<T>{};
    c.launch(grid_for(loop.count),
             image_body<Rule, T>{loop, w, a, b, stored_at(c, t.arrays[s.output])});
}

// The first largest pixel of each window, and where its gradient is wanted, its number there.
template <class T>
struct max_pool_body {
    image_loop loop;
    window w;
    stored<T> x, out;
    T* argmax; // nullptr: not wanted

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        loop.run(block, [&](std::ptrdiff_t sample, int row, int column, int channel,
                            std::ptrdiff_t place) {
            pixel_range const rows = rows_of(w, row), columns = columns_of(w, column);
            T best = x[in_place(w, sample, rows.first, columns.first, channel)];
            int best_pixel = 0, number = 0;
            for (int r = rows.first; r < rows.last; ++r) {
                for (int c = columns.first; c < columns.last; ++c, ++number) {
                    T const value = x[in_place(w, sample, r, c, channel)];
                    if (value > best) {
                        best = value;
                        best_pixel = number;
                    }
                }
            }
            out[place] = best;
            if (argmax) {
                argmax[place] = T(best_pixel);
            }
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void max_pool(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    window const& w = t.windows[s.window];
    image_loop const loop{c.samples, w.out_height, w.out_width, w.channels};
    c.launch(grid_for(loop.count),
             max_pool_body<T>{loop, w, stored_at(c, t.arrays[s.first_array]),
                              stored_at(c, t.arrays[s.output]),
                              s.results > 1 ? c.at(t.arrays[s.output + 1]) : nullptr});
}
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void max_pool_gradient(kernel_launch const& s, tables const& t, Context const& c) {
    run_on_images<max_pool_gradient_rule, false>(s, t, c);
}
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void avg_pool(kernel_launch const& s, tables const& t, Context const& c) {
    run_on_images<avg_pool_rule, true>(s, t, c);
}
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void avg_pool_gradient(kernel_launch const& s, tables const& t, Context const& c) {
    run_on_images<avg_pool_gradient_rule, false>(s, t, c);
}
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void upsample(kernel_launch const& s, tables const& t, Context const& c) {
    run_on_images<upsample_rule, true>(s, t, c);
}
CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void upsample_gradient(kernel_launch const& s, tables const& t, Context const& c) {
    run_on_images<upsample_gradient_rule, false>(s, t, c);
}

template <class Context>
struct kernel_for<Context, op::max_pool> : function_kernel<Context, &max_pool<Context>> {};
template <class Context>
struct kernel_for<Context, op::max_pool_gradient>
    : function_kernel<Context, &max_pool_gradient<Context>> {};
template <class Context>
struct kernel_for<Context, op::avg_pool> : function_kernel<Context, &avg_pool<Context>> {};
template <class Context>
struct kernel_for<Context, op::avg_pool_gradient>
    : function_kernel<Context, &avg_pool_gradient<Context>> {};
template <class Context>
struct kernel_for<Context, op::upsample> : function_kernel<Context, &upsample<Context>> {};
template <class Context>
struct kernel_for<Context, op::upsample_gradient>
    : function_kernel<Context, &upsample_gradient<Context>> {};

} // namespace castnet::cuda
