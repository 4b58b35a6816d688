// Grid of images: what a network makes, as a picture to be looked at.
#pragma once

#include <castnet/core/shape.hpp>
#include <castnet/image/bitmap.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace castnet::image {

struct grid_options {
    size_t columns = 8; // images beside each other
    size_t gap = 2;     // black pixels between images and around all
    float least = 0;    // of these values become 0 (black) and
    float most = 1;     // 255; values beyond are cut off
};

namespace detail {

template <class S>
struct image_shape {
    static_assert(
        castnet::detail::never<S>,
        "castnet: a grid is of images, shape<channels, height, width>, with 1 channel (grey) "
        "or 3 (red, green, blue); see image_shape<found>");
};
template <size_t Channels, size_t Height, size_t Width>
    requires(Channels == 1 || Channels == 3)
struct image_shape<shape<Channels, Height, Width>> {
    static constexpr size_t channels = Channels, height = Height, width = Width;
};

// NaN is black.
inline unsigned char byte_of(float value, grid_options const& options) {
    float const share = (value - options.least) / (options.most - options.least);
    return static_cast<unsigned char>(share > 0 ? std::min(share, 1.0F) * 255 + 0.5F : 0);
}

} // namespace detail

// The images of shape S in `values`, one after the other as predict() returns them, row by row: as
// torchvision's make_grid(images, 8, 2) and save_image. A single one has no gap around it. Throws
// castnet::error for a part of an image, and for options without columns or with an empty range.
template <class S>
bitmap grid(std::span<float const> values, grid_options const& options = {}) {
    using image = detail::image_shape<S>;
    size_t const count = values.size() / S::count;
    if (count * S::count != values.size()) {
        throw error({"castnet: image::grid: found ", quantity(values.size(), "value"),
                     ", expected some for each of several images of ", S::count});
    }
    if (options.columns < 1 || !(options.most > options.least)) {
        throw error({"castnet: image::grid: found ", quantity(options.columns, "column"),
                     " and values from ", options.least, " to ", options.most,
                     ", expected at least one column and a range that is not empty"});
    }
    size_t const columns = std::min(count, options.columns);
    size_t const rows = count == 0 ? 0 : (count + columns - 1) / columns;
    size_t const gap = count == 1 ? 0 : options.gap;
    bitmap all{columns * (image::width + gap) + gap, rows * (image::height + gap) + gap,
               image::channels};
    for (size_t i = 0; i < values.size(); ++i) {
        size_t const x = i % image::width, y = i / image::width % image::height;
        size_t const channel = i / (image::width * image::height) % image::channels;
        size_t const number = i / S::count;
        size_t const left = gap + number % columns * (image::width + gap);
        size_t const top = gap + number / columns * (image::height + gap);
        all.row(top + y)[(left + x) * image::channels + channel] =
            detail::byte_of(values[i], options);
    }
    return all;
}

} // namespace castnet::image
