// Gradient of a convolution with respect to its image, where windows move by one, as a convolution
// of the result's gradient with the weights turned.
#pragma once

#include <castnet/device/cpu/sliding.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

constexpr window data_window(window const& w) {
    window d = w;
    d.channels = w.filters;
    d.height = w.out_height;
    d.width = w.out_width;
    d.filters = w.channels;
    d.out_height = w.height;
    d.out_width = w.width;
    int const rows = w.dilation_h * (w.kernel_h - 1), columns = w.dilation_w * (w.kernel_w - 1);
    d.pad_top = rows - w.pad_top;
    d.pad_left = columns - w.pad_left;
    d.pad_bottom = w.height + rows - w.out_height - d.pad_top;
    d.pad_right = w.width + columns - w.out_width - d.pad_left;
    return d;
}
// Whether there is one, in which not too much is multiplied by the zeros of the padding.
constexpr bool has_data_window(window const& w) {
    window const d = data_window(w);
    return w.stride_h == 1 && w.stride_w == 1 && w.groups == 1 && d.pad_top >= 0 &&
           d.pad_left >= 0 && d.pad_bottom >= 0 && d.pad_right >= 0 &&
           2 * std::ptrdiff_t{w.height} * w.width <= 3 * std::ptrdiff_t{w.out_height} * w.out_width;
}

// The weights of a convolution without groups, or turned those of its gradient by the image.
template <class T>
struct weight_view {
    T const* data;
    std::ptrdiff_t place, channel, filter; // elements to the next one

    static weight_view of(window const& w, T const* weight, bool turned) {
        std::ptrdiff_t const pixel = std::ptrdiff_t{w.channels} * w.filters;
        std::ptrdiff_t const last = std::ptrdiff_t{w.kernel_h} * w.kernel_w - 1;
        return turned ? weight_view{weight + last * pixel, -pixel, 1, w.filters}
                      : weight_view{weight, pixel, w.filters, 1};
    }
    T at(std::ptrdiff_t i, std::ptrdiff_t j, std::ptrdiff_t f) const {
        return data[i * place + j * channel + f * filter];
    }
};

} // namespace castnet::cpu::inline CASTNET_TARGET
