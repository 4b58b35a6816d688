// Geometry of a sliding window: the pixels under it, and the padded bands of an image that kernels
// work on.
#pragma once

#include <castnet/cpu/factor.hpp>
#include <castnet/device/cpu/depth.hpp>
#include <castnet/device/cpu/tuning.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/graph/node.hpp>
#include <castnet/plan/memory.hpp>

#include <algorithm>
#include <cstddef>

namespace castnet::cpu::inline CASTNET_TARGET {

// A sliding window over an image without padding, or already padded.
struct sliding {
    std::ptrdiff_t width;    // of the image
    std::ptrdiff_t channels; // of a pixel in memory
    std::ptrdiff_t out_height, out_width, out_channels;
    std::ptrdiff_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
    std::ptrdiff_t depth_channels; // of one group
    std::ptrdiff_t filters;        // of one group

    // The pixels under the window; a row of the kernel is one run where its pixels lie together.
    constexpr depth window_depth() const {
        bool const whole_rows = dilation_w == 1 && depth_channels == channels;
        return {whole_rows ? kernel_w * channels : depth_channels,
                1,
                whole_rows ? 1 : kernel_w,
                dilation_w * channels,
                kernel_h,
                dilation_h * width * channels};
    }
};

constexpr bool padded(window const& w) {
    return w.pad_top > 0 || w.pad_left > 0 || w.pad_bottom > 0 || w.pad_right > 0;
}
constexpr std::ptrdiff_t padded_width(window const& w) {
    return w.width + w.pad_left + w.pad_right;
}
constexpr std::ptrdiff_t weight_count(window const& w) {
    return std::ptrdiff_t{w.filters} * (w.channels / w.groups) * w.kernel_h * w.kernel_w;
}

constexpr std::ptrdiff_t window_places(window const& w) { // of one filter
    return weight_count(w) / w.filters;
}

constexpr std::ptrdiff_t image_count(window const& w) {
    return std::ptrdiff_t{w.height} * w.width * w.channels;
}
constexpr std::ptrdiff_t result_count(window const& w) {
    return std::ptrdiff_t{w.out_height} * w.out_width * w.filters;
}

// Floating-point operations of a convolution or of one of its gradients.
constexpr double conv_work(window const& w, std::ptrdiff_t samples) {
    return 2.0 * double(samples) * w.out_height * w.out_width * double(weight_count(w));
}

// The only decision which convolutions are depthwise: every channel has filters of its own.
constexpr bool is_depthwise(window const& w) {
    return w.groups > 1 && w.groups == w.channels;
}

// Windows of one pixel that move by one: products of matrices (pointwise_conv.hpp).
constexpr bool is_pointwise(window const& w) {
    return w.kernel_h == 1 && w.kernel_w == 1 && w.stride_h == 1 && w.stride_w == 1 &&
           w.groups == 1 && !padded(w);
}

// The weight gradient is a sum over samples. If it is small, each chunk has its own; otherwise all
// threads share one, and each of them reads all samples, or of products of matrices what it needs.
constexpr bool sums_by_chunk(window const& w) {
    std::ptrdiff_t const most =
        is_pointwise(w) ? std::min<std::ptrdiff_t>(1 << 17, image_count(w) + result_count(w))
                        : 1 << 17;
    return is_depthwise(w) || weight_count(w) <= most;
}

// Channels are counted in factors.
template <class F = float>
constexpr sliding forward_window(window const& w) {
    return {padded_width(w),     w.channels / numbers_in<F>,
            w.out_height,        w.out_width,
            w.filters,           w.kernel_h,
            w.kernel_w,          w.stride_h,
            w.stride_w,          w.dilation_h,
            w.dilation_w,        w.channels / w.groups / numbers_in<F>,
            w.filters / w.groups};
}

// Offsets of the window's elements from its first one.
inline void window_offsets(sliding const& w, std::ptrdiff_t* offset) {
    depth const d = w.window_depth();
    depth_walk{d}.next(d.steps(), offset);
}

constexpr int band_rows(window const& w) { // so many that padding copies a row twice at most
    int const least = padded(w) ? w.kernel_h : 1;
    return std::clamp(band_pixels / w.out_width, std::min(least, w.out_height), w.out_height);
}
constexpr int band_images(window const& w) {
    return std::max(1, band_pixels / (w.out_width * w.out_height));
}
// The most pixels of a band.
constexpr std::ptrdiff_t most_band_pixels(window const& w) {
    return std::max(band_pixels, band_rows(w) * w.out_width);
}
constexpr std::ptrdiff_t band_height(window const& w, int rows) { // of the image
    return std::ptrdiff_t{rows - 1} * w.stride_h + std::ptrdiff_t{w.kernel_h - 1} * w.dilation_h +
           1;
}
// Elements of those rows with their padding, and of the copy of a band, which there is where there
// is padding, or where pairs are made: of neighbouring channels, or in each column of the pixels
// that neighbouring places of the window meet there.
template <class F = float>
constexpr std::ptrdiff_t padded_image(window const& w, pairing p = pairing::neighbours) {
    return band_height(w, band_rows(w)) * padded_width(w) *
           (p == pairing::neighbours ? w.channels / numbers_in<F> : w.channels);
}
template <class F>
constexpr bool copies_bands(window const& w) {
    return padded(w) || numbers_in<F> > 1;
}
template <class F = float>
constexpr std::ptrdiff_t padded_band(window const& w, pairing p = pairing::neighbours) {
    return copies_bands<F>(w) ? aligned(band_images(w) * padded_image<F>(w, p)) : 0;
}

struct band {
    std::ptrdiff_t image, images; // the first, and their number
    int row, rows;                // of the output
};

// A row of an image, in pairs of the pixels that neighbouring places of the window meet; of its
// columns those where a pair begins.
inline void pair_columns(window const& w, float const* row, bfloat16_pair* to) {
    std::ptrdiff_t const channels = w.channels,
                         reach = std::ptrdiff_t{w.kernel_w - 1} * w.dilation_w;
    auto const pixel = [&](std::ptrdiff_t x) {
        return x >= w.pad_left && x < w.pad_left + w.width ? row + (x - w.pad_left) * channels
                                                           : nullptr;
    };
    for (std::ptrdiff_t x = 0; x < padded_width(w); ++x) {
        if (x % (2 * std::ptrdiff_t{w.stride_w}) <= reach) {
            round_rows(pixel(x), pixel(x + w.stride_w), channels, to + x * channels);
        }
    }
}

// The rows of x under a band of one image, with their padding.
template <pairing P, class F>
void copy_padded(window const& w, sum_type<F> const* x, band const& b, F* to) {
    constexpr std::ptrdiff_t numbers = P == pairing::neighbours ? numbers_in<F> : 1;
    std::ptrdiff_t const channels = w.channels / numbers;
    std::ptrdiff_t const width = padded_width(w) * channels, copied = w.width * channels;
    std::ptrdiff_t const left = w.pad_left * channels;
    std::ptrdiff_t const height = band_height(w, b.rows);
    std::ptrdiff_t const top = std::ptrdiff_t{b.row} * w.stride_h - w.pad_top;
    for (std::ptrdiff_t y = top; y < top + height; ++y, to += width) {
        auto const* const row = x + y * w.width * w.channels;
        if (y < 0 || y >= w.height) {
            std::fill_n(to, width, F{});
        } else if constexpr (numbers_in<F> > numbers) {
            pair_columns(w, row, to);
        } else {
            std::fill_n(to, left, F{});
            if constexpr (numbers == 1) {
                std::copy_n(row, copied, to + left);
            } else {
                round_neighbours(row, copied * numbers, to + left);
            }
            std::fill_n(to + left + copied, width - left - copied, F{});
        }
    }
}

// Iterator over the bands of images: while (walk.next()), the kernel works on walk.at.
template <class F, pairing P = pairing::neighbours>
class band_walk {
public:
    using T = sum_type<F>;
    band at{};                     // where it is
    F const* from = nullptr;       // the pixel under the first place of the window, in x or in a
    std::ptrdiff_t next_image = 0; // copy; factors to the next image there

    // Copies lie in `scratch`, which has padded_band<F>(w, P) elements.
    band_walk(window const& w, std::ptrdiff_t samples, T const* x, T* scratch)
        : band_walk{w, samples, x, scratch, 0, w.out_height} {}
    // Of some rows of the results; of part of them, image by image.
    band_walk(window const& w, std::ptrdiff_t samples, T const* x, T* scratch,
              std::ptrdiff_t first_row, std::ptrdiff_t last_row)
        : w_{w}, samples_{samples}, first_row_{static_cast<int>(first_row)},
          last_row_{static_cast<int>(last_row)},
          images_{last_row_ - first_row_ == w.out_height ? band_images(w) : 1}, x_{x},
          scratch_{reinterpret_cast<F*>(scratch)} {}

    [[gnu::noinline]] bool next() {
        at.row += at.rows;
        if (at.rows == 0 || at.row == last_row_) {
            at.row = first_row_;
            at.image += at.images;
            at.images = std::min<std::ptrdiff_t>(images_, samples_ - at.image);
        }
        at.rows = std::min(band_rows(w_), last_row_ - at.row);
        T const* const image = x_ + at.image * image_count(w_);
        if (copies_bands<F>(w_)) {
            next_image = padded_image<F>(w_, P);
            for (std::ptrdiff_t k = 0; k < at.images; ++k) {
                copy_padded<P, F>(w_, image + k * image_count(w_), at, scratch_ + k * next_image);
            }
            from = scratch_;
        } else if constexpr (numbers_in<F> == 1) {
            next_image = image_count(w_);
            from = image + std::ptrdiff_t{at.row} * w_.stride_h * w_.width * w_.channels;
        }
        return at.images > 0;
    }

private:
    window const& w_;
    std::ptrdiff_t samples_;
    int first_row_, last_row_, images_;
    T const* x_;
    F* scratch_;
};

} // namespace castnet::cpu::inline CASTNET_TARGET
