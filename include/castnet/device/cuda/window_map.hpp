// Pixels and windows of pooling: loops over the channels of images, and where they lie in memory.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/cuda/lanes.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/device/quotient.hpp>
#include <castnet/device/window_range.hpp>

#include <cstddef>
#include <cstdint>
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

// Pixels of the windows' input and output, and which of them belong together.
struct window_map {
    window w;
    window_axis rows, columns;
    quotient kernel_h, kernel_w;

    CASTNET_HD explicit window_map(window const& of)
        : w{of}, rows{rows_of_windows(of)}, columns{columns_of_windows(of)}, kernel_h(of.kernel_h),
          kernel_w(of.kernel_w) {}

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
        return one_over_count<T>(w, rows.pixels_of(y), columns.pixels_of(x));
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

} // namespace castnet::cuda
