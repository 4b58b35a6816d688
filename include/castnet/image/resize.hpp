// Resizing of bitmaps as Pillow does it (Image.resize), to the same bytes as version 13.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/image/bitmap.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace castnet::image {

// `bilinear` and `bicubic` widen their filters where they make an image smaller (antialiasing);
// `area` is Pillow's BOX: the mean of the pixels below one.
enum class interpolation : std::uint8_t { nearest, bilinear, bicubic, area };

namespace detail {

// Half the width of a filter, in pixels of the larger image, and its value.
inline double support_of(interpolation kind) {
    return kind == interpolation::area ? 0.5 : kind == interpolation::bilinear ? 1 : 2;
}
inline double filter_at(interpolation kind, double x) {
    if (kind == interpolation::area) {
        return x > -0.5 && x <= 0.5 ? 1 : 0;
    }
    x = std::abs(x);
    if (kind == interpolation::bilinear) {
        return x < 1 ? 1 - x : 0;
    }
    constexpr double a = -0.5; // Keys, 1981
    return x < 1   ? ((a + 2) * x - (a + 3)) * x * x + 1
           : x < 2 ? (((x - 5) * x + 8) * x - 4) * a
                   : 0;
}

// Along one axis: which pixels a result is made of, and their weights in fixed point.
struct resampling {
    static constexpr int bits = 32 - 8 - 2; // of a weight after the point
    size_t most = 0;                        // weights of a result
    std::vector<size_t> first, count;       // pixels
    std::vector<std::int32_t> weights;      // `most` for each result

    resampling(interpolation kind, size_t whole, double from, double size, size_t results)
        : first(results), count(results) {
        double const scale = size / static_cast<double>(results);
        double const wide = std::max(scale, 1.0), narrow = 1 / wide;
        double const support = support_of(kind) * wide;
        most = static_cast<size_t>(std::ceil(support)) * 2 + 1;
        weights.resize(results * most);
        std::vector<double> exact(most);
        for (size_t i = 0; i < results; ++i) {
            double const center = from + (static_cast<double>(i) + 0.5) * scale;
            first[i] = static_cast<size_t>(std::max(std::floor(center - support + 0.5), 0.0));
            size_t const end = static_cast<size_t>(std::floor(center + support + 0.5));
            count[i] = std::min(end, whole) - first[i];
            double sum = 0;
            for (size_t k = 0; k < count[i]; ++k) {
                double const at = static_cast<double>(k + first[i]) - center + 0.5;
                sum += exact[k] = filter_at(kind, at * narrow);
            }
            for (size_t k = 0; k < count[i]; ++k) {
                double const weight = (sum == 0 ? exact[k] : exact[k] / sum) * (1 << bits);
                weights[i * most + k] =
                    static_cast<std::int32_t>(weight < 0 ? weight - 0.5 : weight + 0.5);
            }
        }
    }

    static unsigned char rounded(std::int32_t sum) {
        return static_cast<unsigned char>(std::clamp(sum >> bits, 0, 255));
    }
};

// Pixels that are computed together. A constant, so that compilers make vectors of the loops.
inline constexpr size_t lanes = 16;

// Weighted sums of `count` rows of Lanes bytes, `stride` apart.
template <size_t Lanes>
void weigh(unsigned char const* in, size_t stride, std::int32_t const* weights, size_t count,
           unsigned char* out) {
    std::int32_t sum[Lanes];
    for (size_t i = 0; i < Lanes; ++i) {
        sum[i] = 1 << (resampling::bits - 1);
    }
    for (size_t k = 0; k < count; ++k, in += stride) {
        std::int32_t const weight = weights[k];
        for (size_t i = 0; i < Lanes; ++i) {
            sum[i] += in[i] * weight;
        }
    }
    for (size_t i = 0; i < Lanes; ++i) {
        out[i] = resampling::rounded(sum[i]);
    }
}

using bytes_in_vector [[gnu::vector_size(lanes)]] = unsigned char;

// From rows a and b the bytes a0, b0, a1, b1, …: rows k and k + 8 of 16 become rows 2k and 2k + 1.
// Four times that exchanges rows and columns.
inline void interleave(bytes_in_vector const (&in)[lanes], bytes_in_vector (&out)[lanes]) {
    for (size_t k = 0; k < lanes / 2; ++k) {
        bytes_in_vector const a = in[k], b = in[k + lanes / 2];
        out[2 * k] =
            __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        out[2 * k + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
                                                 14, 30, 15, 31);
    }
}

// out[x * out_stride + y] = in[y * in_stride + x] for all x < width, y < height.
inline void transpose(unsigned char const* in, size_t in_stride, size_t width, size_t height,
                      unsigned char* out, size_t out_stride) {
    for (size_t y = 0; y < height; y += lanes) {
        for (size_t x = 0; x < width; x += lanes) {
            if (height - y < lanes || width - x < lanes) {
                for (size_t j = y; j < std::min(y + lanes, height); ++j) {
                    for (size_t i = x; i < std::min(x + lanes, width); ++i) {
                        out[i * out_stride + j] = in[j * in_stride + i];
                    }
                }
                continue;
            }
            bytes_in_vector square[lanes], half_way[lanes];
            for (size_t k = 0; k < lanes; ++k) {
                std::memcpy(square + k, in + (y + k) * in_stride + x, lanes);
            }
            interleave(square, half_way);
            interleave(half_way, square);
            interleave(square, half_way);
            interleave(half_way, square);
            for (size_t k = 0; k < lanes; ++k) {
                std::memcpy(out + (x + k) * out_stride + y, square + k, lanes);
            }
        }
    }
}

// Rows first .. first + rows - 1 of the image, resampled along them: several at a time, with their
// pixels one above the other.
inline bitmap resample_rows(bitmap const& image, resampling const& r, size_t first, size_t rows) {
    size_t const channels = image.channels, results = r.first.size();
    size_t const in = image.width * channels, out = results * channels;
    bitmap result{results, rows, channels};
    bytes columns(in * lanes), resampled(out * lanes);
    for (size_t y = 0; y < rows; y += lanes) {
        size_t const here = std::min(lanes, rows - y);
        transpose(image.row(first + y), in, in, here, columns.data(), lanes);
        for (size_t i = 0; i < results; ++i) {
            for (size_t c = 0; c < channels; ++c) {
                weigh<lanes>(columns.data() + (r.first[i] * channels + c) * lanes, channels * lanes,
                             r.weights.data() + i * r.most, r.count[i],
                             resampled.data() + (i * channels + c) * lanes);
            }
        }
        transpose(resampled.data(), lanes, here, out, result.row(y), out);
    }
    return result;
}

// Along the columns, of an image whose first row is number `above`.
inline bitmap resample_columns(bitmap const& image, resampling const& r, size_t above) {
    bitmap result{image.width, r.first.size(), image.channels};
    size_t const length = image.width * image.channels;
    for (size_t y = 0; y < result.height; ++y) {
        auto const* const in = image.row(r.first[y] - above);
        auto const* const weights = r.weights.data() + y * r.most;
        size_t i = 0;
        for (; i + lanes <= length; i += lanes) {
            weigh<lanes>(in + i, length, weights, r.count[y], result.row(y) + i);
        }
        for (; i < length; ++i) {
            weigh<1>(in + i, length, weights, r.count[y], result.row(y) + i);
        }
    }
    return result;
}

inline bitmap nearest(bitmap const& image, rectangle const& part, size_t width, size_t height) {
    bitmap result{width, height, image.channels};
    unsigned char* out = result.pixels.data();
    double const x_scale = static_cast<double>(part.width) / static_cast<double>(width);
    double const y_scale = static_cast<double>(part.height) / static_cast<double>(height);
    for (size_t y = 0; y < height; ++y) {
        size_t const line = part.y + static_cast<size_t>((static_cast<double>(y) + 0.5) * y_scale);
        for (size_t x = 0; x < width; ++x) {
            size_t const column =
                part.x + static_cast<size_t>((static_cast<double>(x) + 0.5) * x_scale);
            out = std::copy_n(image.pixel(column, line), image.channels, out);
        }
    }
    return result;
}

} // namespace detail

// A part of an image as one of width x height pixels. Filters see beyond the part, as with
// Pillow's `box`. Throws castnet::error for an empty size, or a part that is empty or not within
// the image.
inline bitmap resize(bitmap const& image, size_t width, size_t height, interpolation kind,
                     rectangle const& part) {
    if (width == 0 || height == 0 || part.width == 0 || part.height == 0 || part.x > image.width ||
        part.width > image.width - part.x || part.y > image.height ||
        part.height > image.height - part.y) {
        throw error({"castnet: resize: found a part of ", part.width, " x ", part.height,
                     " pixels at (", part.x, ", ", part.y, ") of an image of ", image.width, " x ",
                     image.height, " and a result of ", width, " x ", height,
                     "; expected a part within the image and at least one pixel"});
    }
    if (kind == interpolation::nearest) {
        return detail::nearest(image, part, width, height);
    }
    auto const along = [&](size_t whole, size_t from, size_t size, size_t results) {
        return detail::resampling{kind, whole, static_cast<double>(from), static_cast<double>(size),
                                  results};
    };
    bool const rows = width != image.width || part.width != image.width;
    bool const columns = height != image.height || part.height != image.height;
    auto const down = along(image.height, part.y, part.height, height);
    auto const across = along(image.width, part.x, part.width, width);
    // Pillow's order: first along the axis that loses more pixels, if it is by far.
    auto const lost_rows = std::ptrdiff_t(image.height) - std::ptrdiff_t(height);
    auto const lost_columns = std::ptrdiff_t(image.width) - std::ptrdiff_t(width);
    if (!rows || !columns || (lost_rows > 0 && lost_rows > 2 * lost_columns)) {
        bitmap const result = columns ? detail::resample_columns(image, down, 0) : image;
        return rows ? detail::resample_rows(result, across, 0, height) : result;
    }
    size_t const above = down.first.front();
    size_t const needed = down.first.back() + down.count.back() - above;
    return detail::resample_columns(detail::resample_rows(image, across, above, needed), down,
                                    above);
}
inline bitmap resize(bitmap const& image, size_t width, size_t height,
                     interpolation kind = interpolation::bilinear) {
    return resize(image, width, height, kind, {0, 0, image.width, image.height});
}

// The largest part of an image with the ratio width : height, from its middle (torchvision's
// CenterCrop of a resized image).
inline rectangle middle_of(bitmap const& image, size_t width, size_t height) {
    rectangle part{0, 0, image.width, image.height};
    if (image.width * height > image.height * width) {
        part.width = std::max<size_t>(image.height * width / height, 1);
    } else {
        part.height = std::max<size_t>(image.width * height / width, 1);
    }
    part.x = (image.width - part.width) / 2;
    part.y = (image.height - part.height) / 2;
    return part;
}

} // namespace castnet::image
