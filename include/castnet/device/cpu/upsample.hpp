// Up-sampling, by copies or bilinear, forward and backward, sample by sample.
#pragma once

#include <castnet/device/cpu/image_loops.hpp>
#include <castnet/device/cpu/kernel.hpp>
#include <castnet/device/window_range.hpp>

#include <algorithm>

namespace castnet::cpu::inline CASTNET_TARGET {

// Calls f(place in the small image, place in the large image) for all pixels of some rows of the
// large one.
template <class F>
void for_each_copy(window const& w, range rows, F const& f) {
    for (int y = int(rows.first); y < rows.last; ++y) {
        for (int x = 0; x < w.out_width; ++x) {
            f((std::ptrdiff_t{y / w.kernel_h} * w.width + x / w.kernel_w) * w.channels,
              (std::ptrdiff_t{y} * w.out_width + x) * w.channels);
        }
    }
}

template <class T>
void upsample(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_rows(w, c, [&](std::ptrdiff_t i, range rows) {
        for_each_copy(w, rows, [&](std::ptrdiff_t small, std::ptrdiff_t large) {
            std::copy_n(from + i * in_count(w) + small, w.channels, to + i * out_count(w) + large);
        });
    });
}

template <class T>
void upsample_gradient(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const g = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_sample(w, c, [&](std::ptrdiff_t i) {
        T* const dx = to + i * in_count(w);
        std::fill(dx, dx + in_count(w), T(0));
        for_each_copy(w, {0, w.out_height}, [&](std::ptrdiff_t small, std::ptrdiff_t large) {
            for (int ch = 0; ch < w.channels; ++ch) {
                dx[small + ch] += g[i * out_count(w) + large + ch];
            }
        });
    });
}

// Calls f(place in the small image, place in the large image, share) for the four pixels of the
// small one between which each pixel of some rows of the large one lies.
template <class T, class F>
void for_each_share(window const& w, range rows, F const& f) {
    for (int y = int(rows.first); y < rows.last; ++y) {
        auto const row = interpolate<T>(y, w.kernel_h, w.height);
        for (int x = 0; x < w.out_width; ++x) {
            auto const column = interpolate<T>(x, w.kernel_w, w.width);
            std::ptrdiff_t const large = (std::ptrdiff_t{y} * w.out_width + x) * w.channels;
            auto const from = [&](int small_y, int small_x, T share) {
                f((std::ptrdiff_t{small_y} * w.width + small_x) * w.channels, large, share);
            };
            from(row.first, column.first, (T(1) - row.share) * (T(1) - column.share));
            from(row.first, column.second, (T(1) - row.share) * column.share);
            from(row.second, column.first, row.share * (T(1) - column.share));
            from(row.second, column.second, row.share * column.share);
        }
    }
}

template <class T>
void upsample_bilinear(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const from = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    std::ptrdiff_t const row = std::ptrdiff_t{w.out_width} * w.channels;
    for_each_rows(w, c, [&](std::ptrdiff_t i, range rows) {
        T const* const image = from + i * in_count(w);
        T* const y = to + i * out_count(w);
        std::fill(y + rows.first * row, y + rows.last * row, T(0));
        for_each_share<T>(w, rows, [&](std::ptrdiff_t small, std::ptrdiff_t large, T share) {
            for (int ch = 0; ch < w.channels; ++ch) {
                y[large + ch] += share * image[small + ch];
            }
        });
    });
}

template <class T>
void upsample_bilinear_gradient(kernel_launch const& s, tables const& t, context<T> const& c) {
    window const& w = t.windows[s.window];
    T const* const g = c.at(t.arrays[s.first_array]);
    T* const to = c.at(t.arrays[s.output]);
    for_each_sample(w, c, [&](std::ptrdiff_t i) {
        T const* const dy = g + i * out_count(w);
        T* const dx = to + i * in_count(w);
        std::fill(dx, dx + in_count(w), T(0));
        range const all{0, w.out_height};
        for_each_share<T>(w, all, [&](std::ptrdiff_t small, std::ptrdiff_t large, T share) {
            for (int ch = 0; ch < w.channels; ++ch) {
                dx[small + ch] += share * dy[large + ch];
            }
        });
    });
}

template <class T>
struct kernel_for<T, op::upsample> {
    static constexpr kernel<T> of(kernel_launch const& s, window const* windows) {
        return {windows[s.window].bilinear ? &upsample_bilinear<T> : &upsample<T>};
    }
};
template <class T>
struct kernel_for<T, op::upsample_gradient> {
    static constexpr kernel<T> of(kernel_launch const& s, window const* windows) {
        return {windows[s.window].bilinear ? &upsample_bilinear_gradient<T>
                                           : &upsample_gradient<T>};
    }
};

} // namespace castnet::cpu::inline CASTNET_TARGET
