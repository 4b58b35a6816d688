// Transforms of images for augment(): the changes of Keras' ImageDataGenerator and of
// torchvision, each a small object.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/hyperparameters.hpp>
#include <castnet/data/affine.hpp>
#include <castnet/data/color_jitter.hpp>
#include <castnet/data/detail/random_stream.hpp>
#include <castnet/data/pixels.hpp>
#include <castnet/data/random_resized_crop.hpp>
#include <castnet/data/standardize.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace castnet::data {

// Left and right, or upper and lower, change places with a probability.
struct random_flip {
    double horizontal = 0.5, vertical = 0;
    static constexpr char const* name = "data::random_flip";
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"horizontal", horizontal, hyperparameter::fraction},
                                              {"vertical", vertical, hyperparameter::fraction}});
    }

    struct drawn {
        bool columns, rows;

        template <class T>
        void change(pixels<T> image) const {
            size_t const width = image.width, mirrored = columns ? image.height : 0,
                         swapped = rows ? image.height / 2 : 0;
            for (size_t c = 0; c < image.channels; ++c) {
                for (size_t y = 0; y < mirrored; ++y) {
                    T* const row = image.row(c, y);
                    std::reverse(row, row + width);
                }
                for (size_t y = 0; y < swapped; ++y) {
                    T* const row = image.row(c, y);
                    std::swap_ranges(row, row + width, image.row(c, image.height - 1 - y));
                }
            }
        }

        template <class From, class To>
        CASTNET_HD void operator()(From const& from, To const& to, size_t y, size_t x) const {
            for (size_t c = 0; c < from.channels; ++c) {
                to.set(
                    c, y, x,
                    from.get(c, rows ? from.height - 1 - y : y, columns ? from.width - 1 - x : x));
            }
        }
    };
    drawn draw(size_t, size_t, size_t, detail::random_stream& random) const {
        bool const columns = random.uniform() < horizontal;
        return {columns, random.uniform() < vertical};
    }
};

// The image moved by up to `padding` pixels along each axis, with `value` where nothing was:
// torchvision's RandomCrop(size, padding), as for CIFAR.
struct random_shift {
    size_t padding = 4;
    double value = 0;
    static constexpr char const* name = "data::random_shift";
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"value", value, hyperparameter::finite}});
    }

    struct drawn {
        std::ptrdiff_t down, right;
        double value;

        template <class From, class To>
        CASTNET_HD void operator()(From const& from, To const& to, size_t y, size_t x) const {
            using T = decltype(from.get(0, 0, 0));
            auto const row = size_t(std::ptrdiff_t(y) - down); // huge above the image
            auto const column = size_t(std::ptrdiff_t(x) - right);
            bool const within = row < from.height && column < from.width;
            for (size_t c = 0; c < from.channels; ++c) {
                to.set(c, y, x, within ? from.get(c, row, column) : T(value));
            }
        }
    };
    drawn draw(size_t, size_t, size_t, detail::random_stream& random) const {
        auto const any = [&] {
            return std::ptrdiff_t(random.below(2 * padding + 1)) - std::ptrdiff_t(padding);
        };
        std::ptrdiff_t const down = any();
        return {down, any(), value};
    }
};

// A square of `size` pixels around a random one becomes `value` (DeVries and Taylor, 2017,
// arXiv:1708.04552); what lies beyond the image is left out.
struct cutout {
    size_t size = 8;
    double value = 0;
    static constexpr char const* name = "data::cutout";
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"value", value, hyperparameter::finite}});
    }

    struct drawn {
        size_t top, bottom, left, right;
        double value;

        template <class T>
        void change(pixels<T> image) const {
            for (size_t c = 0; c < image.channels; ++c) {
                for (size_t y = top; y < bottom; ++y) {
                    std::fill(image.row(c, y) + left, image.row(c, y) + right, T(value));
                }
            }
        }

        template <class From, class To>
        CASTNET_HD void operator()(From const& from, To const& to, size_t y, size_t x) const {
            using T = decltype(from.get(0, 0, 0));
            bool const cut = y >= top && y < bottom && x >= left && x < right;
            for (size_t c = 0; c < from.channels; ++c) {
                to.set(c, y, x, cut ? T(value) : from.get(c, y, x));
            }
        }
    };
    drawn draw(size_t, size_t height, size_t width, detail::random_stream& random) const {
        auto const range = [&](size_t whole) {
            auto const first = std::ptrdiff_t(random.below(whole)) - std::ptrdiff_t(size / 2);
            auto const last = first + std::ptrdiff_t(size);
            return std::pair{size_t(std::max<std::ptrdiff_t>(first, 0)),
                             size_t(std::clamp<std::ptrdiff_t>(last, 0, std::ptrdiff_t(whole)))};
        };
        auto const [top, bottom] = range(height);
        auto const [left, right] = range(width);
        return {top, bottom, left, right, value};
    }
};

} // namespace castnet::data
