// Transforms of images for augment(): the changes of Keras's ImageDataGenerator and of
// torchvision, each a small object.
#pragma once

#include <castnet/data/affine.hpp>
#include <castnet/data/color_jitter.hpp>
#include <castnet/data/detail/random_stream.hpp>
#include <castnet/data/pixels.hpp>
#include <castnet/data/random_resized_crop.hpp>
#include <castnet/data/standardize.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace castnet::data {

// Left and right, or upper and lower, change places with a probability.
struct random_flip {
    double horizontal = 0.5, vertical = 0;

    template <class T>
    void operator()(pixels<T> image, detail::random_stream& random) const {
        bool const columns = random.uniform() < horizontal, rows = random.uniform() < vertical;
        for (size_t c = 0; c < image.channels; ++c) {
            for (size_t y = 0; columns && y < image.height; ++y) {
                std::reverse(image.row(c, y), image.row(c, y) + image.width);
            }
            for (size_t y = 0; rows && y < image.height / 2; ++y) {
                std::swap_ranges(image.row(c, y), image.row(c, y) + image.width,
                                 image.row(c, image.height - 1 - y));
            }
        }
    }
};

// The image moved by up to `padding` pixels along each axis, with `value` where nothing was:
// torchvision's RandomCrop(size, padding), as for CIFAR.
struct random_shift {
    size_t padding = 4;
    double value = 0;

    template <class T>
    void operator()(pixels<T> image, detail::random_stream& random) const {
        auto const draw = [&] {
            return std::ptrdiff_t(random.below(2 * padding + 1)) - std::ptrdiff_t(padding);
        };
        std::ptrdiff_t const down = draw(), right = draw();
        std::vector<T> const before(image.values, image.values + image.count());
        auto const height = std::ptrdiff_t(image.height), width = std::ptrdiff_t(image.width);
        for (size_t c = 0; c < image.channels; ++c) {
            for (std::ptrdiff_t y = 0; y < height; ++y) {
                for (std::ptrdiff_t x = 0; x < width; ++x) {
                    std::ptrdiff_t const from_y = y - down, from_x = x - right;
                    bool const within =
                        from_y >= 0 && from_y < height && from_x >= 0 && from_x < width;
                    image.row(c, size_t(y))[x] =
                        within ? before[(c * image.height + size_t(from_y)) * image.width +
                                        size_t(from_x)]
                               : T(value);
                }
            }
        }
    }
};

// A square of `size` pixels around a random one becomes `value` (DeVries and Taylor, 2017,
// arXiv:1708.04552); what lies beyond the image is left out.
struct cutout {
    size_t size = 8;
    double value = 0;

    template <class T>
    void operator()(pixels<T> image, detail::random_stream& random) const {
        auto const range = [&](size_t whole) {
            auto const first = std::ptrdiff_t(random.below(whole)) - std::ptrdiff_t(size / 2);
            auto const last = first + std::ptrdiff_t(size);
            return std::pair{size_t(std::max<std::ptrdiff_t>(first, 0)),
                             size_t(std::clamp<std::ptrdiff_t>(last, 0, std::ptrdiff_t(whole)))};
        };
        auto const [top, bottom] = range(image.height);
        auto const [left, right] = range(image.width);
        for (size_t c = 0; c < image.channels; ++c) {
            for (size_t y = top; y < bottom; ++y) {
                std::fill(image.row(c, y) + left, image.row(c, y) + right, T(value));
            }
        }
    }
};

} // namespace castnet::data
