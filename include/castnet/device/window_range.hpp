// The pixels under a window of pooling, the windows over a pixel, and the pixels between which
// up-sampling interpolates, along one axis.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/quotient.hpp>
#include <castnet/graph/node.hpp>

#include <cstdint>

namespace castnet::ir {

struct pixel_range {
    int first, last; // one past the last
};

// Windows along one axis. Adaptive ones share `size` pixels out; where their number does not divide
// it, neighbours have a pixel in common. They follow the same formula as ordinary ones: window i
// begins at pixel i * step / parts - pad, and ends `length` parts later.
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

    // Whether all pixels of these windows, which are not adaptive, lie in the image.
    CASTNET_HD bool are_whole(pixel_range windows) const {
        return windows.first * step_ >= pad_ &&
               (windows.last - 1) * step_ - pad_ + length_ <= size_;
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

CASTNET_HD inline window_axis rows_of_windows(window const& w) {
    return {w, w.height, w.out_height, w.kernel_h, w.stride_h, w.pad_top};
}
CASTNET_HD inline window_axis columns_of_windows(window const& w) {
    return {w, w.width, w.out_width, w.kernel_w, w.stride_w, w.pad_left};
}

// One over the number of pixels that the average of a window counts.
template <class T>
CASTNET_HD T one_over_count(window const& w, pixel_range rows, pixel_range columns) {
    return T(1) / T(w.count_padding ? w.kernel_h * w.kernel_w
                                    : (rows.last - rows.first) * (columns.last - columns.first));
}

// A pixel of a finer grid: (1 - share) of one pixel plus `share` of another.
template <class T>
struct interpolated {
    int first, second;
    T share;

    CASTNET_HD constexpr T weight(int pixel) const {
        return (pixel == first ? T(1) - share : T(0)) + (pixel == second ? share : T(0));
    }
};

// Of a grid `factor` times as fine, whose pixels lie in those of the coarse one; beyond the middle
// of the first and last pixel nothing changes any more.
template <class T>
CASTNET_HD constexpr interpolated<T> interpolate(int fine, int factor, int size) {
    int const from_first =
        2 * fine + 1 - factor; // middles' distance, in half pixels of the fine grid
    int const distance = from_first > 0 ? from_first : 0;
    int const first = distance / (2 * factor);
    return {first, first + 1 < size ? first + 1 : first,
            T(distance - first * 2 * factor) / T(2 * factor)};
}

// The pixels of the fine grid that have some of this one: whose middles are less than `factor` of
// them away.
CASTNET_HD constexpr pixel_range interpolated_from(int coarse, int factor, int size) {
    int const first = coarse > 0 ? ((2 * coarse - 1) * factor + 1) / 2 : 0;
    int const last = (2 * coarse + 3) * factor / 2;
    return {first, last < size * factor ? last : size * factor};
}

} // namespace castnet::ir
