// Pooling and up-sampling, forward and backward. A thread computes some neighbouring channels of a
// pixel of the result; the gradients gather from all windows that a pixel lies in, so nothing is
// added by two threads. Where windows tile the image, the gradient of max pooling is computed by
// windows instead (window_tiles.hpp).
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/lanes.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/quotient.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/cuda/window_tiles.hpp>
#include <castnet/device/cuda/winners.hpp>
#include <castnet/device/window_range.hpp>

#include <type_traits>

namespace castnet::cuda {

// A pixel of an image, and the first of the channels there that a thread computes.
struct image_place {
    std::uint32_t sample;
    int row, column;
    std::uint32_t channel;
};

// Calls f(how many channels, the place) for all channels of images of this size.
struct image_loop {
    static constexpr int most_lanes = lanes_of<bfloat16>;

    quotient groups, columns, rows; // of a pixel, a row and an image
    std::uint32_t count;
    bool in_lanes; // channels are whole groups of most_lanes

    CASTNET_HD image_loop(std::ptrdiff_t samples, int height, int width, int channels)
        : columns(width), rows(height), in_lanes{channels % most_lanes == 0} {
        groups = quotient(in_lanes ? channels / most_lanes : channels);
        count = static_cast<std::uint32_t>(samples * height * width) * groups.divisor;
    }

    template <class Block, class F>
    CASTNET_HD void run(Block const& block, F const& f) const {
        for_each_index(block, count, [&](std::uint32_t n) {
            std::uint32_t const pixel = groups.divide(n), line = columns.divide(pixel),
                                sample = rows.divide(line), group = n - pixel * groups.divisor;
            image_place at{sample, static_cast<int>(line - sample * rows.divisor),
                           static_cast<int>(pixel - line * columns.divisor), group};
            if (in_lanes) {
                at.channel *= most_lanes;
                f(std::integral_constant<int, most_lanes>{}, at);
            } else {
                f(std::integral_constant<int, 1>{}, at);
            }
        });
    }
};

// Windows along one axis, ordinary ones and adaptive ones (device/window_range.hpp) by the same
// formula: window i begins at pixel i * step / parts - pad, and ends `length` parts later.
class window_axis {
public:
    CASTNET_HD window_axis(window const& w, int size, int count, int kernel, int stride, int pad)
        : size_{size}, count_{count} {
        if (w.adaptive) {
            step_ = size;
            length_ = size + count - 1;
            parts_ = quotient(count);
            pixel_ = count;
            first_ = 0;
            last_ = count + size - 1;
            stride_ = quotient(size);
        } else {
            step_ = stride;
            length_ = kernel;
            pad_ = pad;
            first_ = pad - kernel + stride;
            last_ = pad + stride;
            stride_ = quotient(stride);
        }
    }

    // The pixels of a window that lie in the image.
    CASTNET_HD pixel_range pixels_of(int i) const {
        int const begin = times(parts_, i * step_) - pad_,
                  end = times(parts_, i * step_ + length_) - pad_;
        return {begin > 0 ? begin : 0, end < size_ ? end : size_};
    }
    // The windows that a pixel lies in.
    CASTNET_HD pixel_range windows_over(int pixel) const {
        int const from = pixel * pixel_ + first_;
        int const last = times(stride_, pixel * pixel_ + last_);
        return {times(stride_, from > 0 ? from : 0), last < count_ ? last : count_};
    }

    // How often a number that is at least 0 holds the divisor.
    CASTNET_HD static int times(quotient const& divisor, int n) {
        return static_cast<int>(divisor.divide(static_cast<std::uint32_t>(n)));
    }

private:
    int size_, count_; // pixels of the image; windows
    int step_, length_, pad_ = 0;
    quotient parts_{};
    // window (pixel * pixel_ + first_) / stride_ is the first one over a pixel
    int pixel_ = 1, first_, last_;
    quotient stride_;
};

// Pixels of the windows' input and output, and which of them belong together.
struct window_map {
    window w;
    window_axis rows, columns;
    quotient kernel_h, kernel_w;

    CASTNET_HD explicit window_map(window const& of)
        : w{of}, rows{of, of.height, of.out_height, of.kernel_h, of.stride_h, of.pad_top},
          columns{of, of.width, of.out_width, of.kernel_w, of.stride_w, of.pad_left},
          kernel_h(of.kernel_h), kernel_w(of.kernel_w) {}

    // Where elements of the input and the output lie in memory.
    CASTNET_HD std::uint32_t in(image_place const& at, int y, int x) const {
        return place(at, w.height, w.width, y, x);
    }
    CASTNET_HD std::uint32_t out(image_place const& at, int y, int x) const {
        return place(at, w.out_height, w.out_width, y, x);
    }

    // One over the number of pixels that a window's average counts.
    template <class T>
    CASTNET_HD T share(int y, int x) const {
        pixel_range const r = rows.pixels_of(y), c = columns.pixels_of(x);
        return T(1) / T(w.count_padding ? w.kernel_h * w.kernel_w
                                        : (r.last - r.first) * (c.last - c.first));
    }

private:
    CASTNET_HD std::uint32_t place(image_place const& at, int height, int width, int y,
                                   int x) const {
        auto const row =
            at.sample * static_cast<std::uint32_t>(height) + static_cast<std::uint32_t>(y);
        auto const pixel = row * static_cast<std::uint32_t>(width) + static_cast<std::uint32_t>(x);
        return pixel * static_cast<std::uint32_t>(w.channels) + at.channel;
    }
};

// The first largest pixel of each window, and where its gradient is wanted, its number there.
// TwoByTwo: windows of four pixels, all of them in the image.
template <class T, bool TwoByTwo>
struct max_pool_body {
    image_loop loop;
    window_map map;
    stored<T> image, out;
    winners largest;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        loop.run(block, [&]<int Lanes>(std::integral_constant<int, Lanes>, image_place const& at) {
            pixel_range const rows = rows_of(at.row), columns = columns_of(at.column);
            T best[Lanes];
            std::uint32_t best_pixel[Lanes], number = 0;
            for (int r = rows.first; r < rows.last; ++r) {
                for (int c = columns.first; c < columns.last; ++c, ++number) {
                    T value[Lanes];
                    image.load(map.in(at, r, c), value);
                    for (int i = 0; i < Lanes; ++i) {
                        bool const larger = number == 0 || value[i] > best[i];
                        best[i] = larger ? value[i] : best[i];
                        best_pixel[i] = larger ? number : best_pixel[i];
                    }
                }
            }
            std::uint32_t const place = map.out(at, at.row, at.column);
            out.store(best, place);
            if (largest) {
                largest.store(best_pixel, place);
            }
        });
    }

private:
    CASTNET_HD pixel_range rows_of(int y) const {
        return TwoByTwo ? pixel_range{2 * y, 2 * y + 2} : map.rows.pixels_of(y);
    }
    CASTNET_HD pixel_range columns_of(int x) const {
        return TwoByTwo ? pixel_range{2 * x, 2 * x + 2} : map.columns.pixels_of(x);
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void max_pool(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    window const& w = t.windows[s.window];
    image_loop const loop{c.samples, w.out_height, w.out_width, w.channels};
    window_map const map{w};
    stored<T> const x = stored_at(c, t.arrays[s.first_array]),
                    out = stored_at(c, t.arrays[s.output]);
    winners const largest = s.results > 1 ? winners{c.at(t.arrays[s.output + 1]), w} : winners{};
    if (tiles_image(w) && w.kernel_h == 2 && w.kernel_w == 2) {
        c.launch(grid_for(loop.count), max_pool_body<T, true>{loop, map, x, out, largest});
    } else {
        c.launch(grid_for(loop.count), max_pool_body<T, false>{loop, map, x, out, largest});
    }
}

// A thread writes the pixels of a window.
template <class T>
struct max_pool_tiles_gradient_body {
    image_loop loop; // over windows
    window_map map;
    window_tiles tiles;
    stored<T> dy, out;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        loop.run(block, [&]<int Lanes>(std::integral_constant<int, Lanes>, image_place const& at) {
            T gradient[Lanes];
            dy.load(map.out(at, at.row, at.column), gradient);
            auto const pixel = static_cast<std::uint32_t>(at.row * map.w.out_width + at.column);
            tiles.spread(
                gradient, at.sample, pixel, at.channel,
                [&](T const(&value)[Lanes], std::uint32_t place) { out.store(value, place); });
        });
    }
};

// The operands of the kernels below.
template <class T>
struct image_operands {
    stored<T> a;
    winners largest{}; // for the gradient of max pooling
};

// Calls f(output row, output column) for all windows that a pixel lies in, in their order.
template <class F>
CASTNET_HD void for_windows_over(window_map const& map, image_place const& at, F const& f) {
    pixel_range const rows = map.rows.windows_over(at.row),
                      columns = map.columns.windows_over(at.column);
    CASTNET_NO_UNROLL
    for (int r = rows.first; r < rows.last; ++r) {
        CASTNET_NO_UNROLL
        for (int c = columns.first; c < columns.last; ++c) {
            f(r, c);
        }
    }
}

template <class T, int Lanes>
CASTNET_HD void add_times(T (&sum)[Lanes], T factor, stored<T> const& from, std::uint32_t place) {
    T x[Lanes];
    from.load(place, x);
    for (int i = 0; i < Lanes; ++i) {
        sum[i] += factor * x[i];
    }
}

// Rules: what is added up for some channels of a pixel of the result.
struct max_pool_gradient_rule {
    template <class T, int Lanes>
    CASTNET_HD static void add(window_map const& map, image_operands<T> const& from,
                               image_place const& at, T (&sum)[Lanes]) {
        for_windows_over(map, at, [&](int r, int c) {
            pixel_range const rows = map.rows.pixels_of(r), columns = map.columns.pixels_of(c);
            auto const number = static_cast<std::uint32_t>(
                (at.row - rows.first) * (columns.last - columns.first) + at.column - columns.first);
            std::uint32_t const place = map.out(at, r, c);
            std::uint32_t winner[Lanes];
            T gradient[Lanes];
            from.largest.load(place, winner);
            from.a.load(place, gradient);
            for (int i = 0; i < Lanes; ++i) {
                if (winner[i] == number) {
                    sum[i] += gradient[i];
                }
            }
        });
    }
};

struct avg_pool_rule {
    template <class T, int Lanes>
    CASTNET_HD static void add(window_map const& map, image_operands<T> const& from,
                               image_place const& at, T (&sum)[Lanes]) {
        pixel_range const rows = map.rows.pixels_of(at.row),
                          columns = map.columns.pixels_of(at.column);
        for (int r = rows.first; r < rows.last; ++r) {
            for (int c = columns.first; c < columns.last; ++c) {
                add_times(sum, T(1), from.a, map.in(at, r, c));
            }
        }
        T const share = map.share<T>(at.row, at.column);
        for (T& x : sum) {
            x *= share;
        }
    }
};

struct avg_pool_gradient_rule {
    template <class T, int Lanes>
    CASTNET_HD static void add(window_map const& map, image_operands<T> const& from,
                               image_place const& at, T (&sum)[Lanes]) {
        for_windows_over(map, at, [&](int r, int c) {
            add_times(sum, map.share<T>(r, c), from.a, map.out(at, r, c));
        });
    }
};

struct upsample_rule {
    template <class T, int Lanes>
    CASTNET_HD static void add(window_map const& map, image_operands<T> const& from,
                               image_place const& at, T (&sum)[Lanes]) {
        window const& w = map.w;
        if (w.bilinear) {
            auto const r = interpolate<T>(at.row, w.kernel_h, w.height);
            auto const c = interpolate<T>(at.column, w.kernel_w, w.width);
            auto const take = [&](int y, int x, T share) {
                add_times(sum, share, from.a, map.in(at, y, x));
            };
            take(r.first, c.first, (T(1) - r.share) * (T(1) - c.share));
            take(r.first, c.second, (T(1) - r.share) * c.share);
            take(r.second, c.first, r.share * (T(1) - c.share));
            take(r.second, c.second, r.share * c.share);
        } else {
            from.a.load(map.in(at, window_axis::times(map.kernel_h, at.row),
                               window_axis::times(map.kernel_w, at.column)),
                        sum);
        }
    }
};

struct upsample_gradient_rule {
    template <class T, int Lanes>
    CASTNET_HD static void add(window_map const& map, image_operands<T> const& from,
                               image_place const& at, T (&sum)[Lanes]) {
        window const& w = map.w;
        pixel_range rows{at.row * w.kernel_h, (at.row + 1) * w.kernel_h};
        pixel_range columns{at.column * w.kernel_w, (at.column + 1) * w.kernel_w};
        if (w.bilinear) {
            rows = interpolated_from(at.row, w.kernel_h, w.height);
            columns = interpolated_from(at.column, w.kernel_w, w.width);
        }
        for (int r = rows.first; r < rows.last; ++r) {
            T const of_row =
                w.bilinear ? interpolate<T>(r, w.kernel_h, w.height).weight(at.row) : T(1);
            for (int c = columns.first; c < columns.last; ++c) {
                T const of_column =
                    w.bilinear ? interpolate<T>(c, w.kernel_w, w.width).weight(at.column) : T(1);
                add_times(sum, of_row * of_column, from.a, map.out(at, r, c));
            }
        }
    }
};

template <class Rule, class T>
struct image_body {
    image_loop loop;
    window_map map;
    image_operands<T> from;
    stored<T> out;
    bool forward; // the result is as large as the windows' output, and else as their input

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        loop.run(block, [&]<int Lanes>(std::integral_constant<int, Lanes>, image_place const& at) {
            T sum[Lanes]{};
            Rule::add(map, from, at, sum);
            out.store(sum,
                      forward ? map.out(at, at.row, at.column) : map.in(at, at.row, at.column));
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Rule, bool Forward, class Context>
CASTNET_HD void run_on_images(kernel_launch const& s, tables const& t, Context const& c,
                              image_operands<typename Context::value_type> const& from) {
    using T = typename Context::value_type;
    window const& w = t.windows[s.window];
    image_loop const loop{c.samples, Forward ? w.out_height : w.height,
                          Forward ? w.out_width : w.width, w.channels};
    c.launch(grid_for(loop.count), image_body<Rule, T>{loop, window_map{w}, from,
                                                       stored_at(c, t.arrays[s.output]), Forward});
}
CASTNET_CALLS_UNCHECKED
template <class Rule, bool Forward, class Context>
CASTNET_HD void run_on_image(kernel_launch const& s, tables const& t, Context const& c) {
    run_on_images<Rule, Forward>(s, t, c, {stored_at(c, t.arrays[s.first_array])});
}

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void max_pool_gradient(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    window const& w = t.windows[s.window];
    winners const largest{c.at(t.arrays[s.first_array]), w};
    stored<T> const dy = stored_at(c, t.arrays[s.first_array + 1]);
    if (tiles_image(w)) {
        image_loop const loop{c.samples, w.out_height, w.out_width, w.channels};
        c.launch(grid_for(loop.count),
                 max_pool_tiles_gradient_body<T>{loop, window_map{w},
                                                 window_tiles{w, largest, quotient(w.out_width)},
                                                 dy, stored_at(c, t.arrays[s.output])});
    } else {
        run_on_images<max_pool_gradient_rule, false>(s, t, c, {dy, largest});
    }
}

template <class Context>
struct kernel_for<Context, op::max_pool> : function_kernel<Context, &max_pool<Context>> {};
template <class Context>
struct kernel_for<Context, op::max_pool_gradient>
    : function_kernel<Context, &max_pool_gradient<Context>> {};
template <class Context>
struct kernel_for<Context, op::avg_pool>
    : function_kernel<Context, &run_on_image<avg_pool_rule, true, Context>> {};
template <class Context>
struct kernel_for<Context, op::avg_pool_gradient>
    : function_kernel<Context, &run_on_image<avg_pool_gradient_rule, false, Context>> {};
template <class Context>
struct kernel_for<Context, op::upsample>
    : function_kernel<Context, &run_on_image<upsample_rule, true, Context>> {};
template <class Context>
struct kernel_for<Context, op::upsample_gradient>
    : function_kernel<Context, &run_on_image<upsample_gradient_rule, false, Context>> {};

} // namespace castnet::cuda
