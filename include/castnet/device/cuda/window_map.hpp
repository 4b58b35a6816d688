// Pixels and windows of pooling: loops over the channels of images, which pixels a window has, and
// which windows a pixel lies in.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/cuda/lanes.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/quotient.hpp>
#include <castnet/device/ir.hpp>
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

} // namespace castnet::cuda
