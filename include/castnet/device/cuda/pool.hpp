// Pooling and up-sampling, forward and backward. A thread computes some neighbouring channels of a
// pixel of the result; the gradients gather from all windows that a pixel lies in, so nothing is
// added by two threads. Where windows tile the image, the gradient of max pooling is computed by
// windows instead (window_tiles.hpp).
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/device/cuda/window_map.hpp>
#include <castnet/device/cuda/window_tiles.hpp>
#include <castnet/device/cuda/winners.hpp>
#include <castnet/device/quotient.hpp>
#include <castnet/device/window_range.hpp>

#include <type_traits>

namespace castnet::cuda {

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
            std::uint32_t best_pixel[Lanes] = {}, number = 0;
            for (int r = rows.first; r < rows.last; ++r) {
                for (int c = columns.first; c < columns.last; ++c, ++number) {
                    T value[Lanes];
                    image.load(map.in(at, r, c), value);
                    CASTNET_UNROLL
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
    image_loop const loop{images_of(w, c), w.out_height, w.out_width, w.channels};
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
    CASTNET_UNROLL
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
            CASTNET_UNROLL
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
    image_loop const loop{images_of(w, c), Forward ? w.out_height : w.height,
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
        image_loop const loop{images_of(w, c), w.out_height, w.out_width, w.channels};
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
