// Transforms of images for augment(): the changes of Keras's ImageDataGenerator and of
// torchvision, each a small object.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/data/description.hpp>
#include <castnet/data/detail/random_stream.hpp>
#include <castnet/data/pixels.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
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

// What lies beyond an image: its edge again (aaa|abcd|ddd), one value, the image mirrored with its
// edge (cba|abcd|dcb), or the image again (bcd|abcd|abc); Keras's fill_mode.
enum class fill_mode : std::uint8_t { nearest, constant, reflect, wrap };

namespace detail {

// The place of a pixel within an axis, or -1 beyond an image that is filled with one value.
inline std::ptrdiff_t place_within(std::ptrdiff_t at, std::ptrdiff_t size, fill_mode fill) {
    if (at >= 0 && at < size) {
        return at;
    }
    if (fill == fill_mode::nearest) {
        return at < 0 ? 0 : size - 1;
    }
    if (fill == fill_mode::constant) {
        return -1;
    }
    std::ptrdiff_t const period = fill == fill_mode::wrap ? size : 2 * size;
    std::ptrdiff_t const within = (at % period + period) % period;
    return within < size ? within : period - 1 - within;
}

// A number from -range to range, or 0 without drawing one.
inline double symmetric(double range, random_stream& random) {
    return range == 0 ? 0 : range * (2 * random.uniform() - 1);
}

} // namespace detail

// Rotation, shifts, shear and zoom around the middle of the image, in one interpolation (bilinear):
// Keras's apply_affine_transform.
struct affine {
    double rotation = 0;                  // degrees
    double down = 0, right = 0;           // pixels; the image moves up and to the left
    double shear = 0;                     // degrees
    double row_zoom = 1, column_zoom = 1; // above 1: smaller
    fill_mode fill = fill_mode::nearest;
    double value = 0; // beyond the image, for fill_mode::constant

    template <class T>
    void operator()(pixels<T> image, detail::random_stream&) const {
        apply(image);
    }
    template <class T>
    void apply(pixels<T> image) const {
        constexpr double degree = std::numbers::pi / 180;
        double const cosine = std::cos(rotation * degree), sine = std::sin(rotation * degree);
        double const shear_x = -std::sin(shear * degree), shear_y = std::cos(shear * degree);
        // Where a pixel of the result comes from: rotation * shift * shear * zoom.
        double const yy = cosine * row_zoom, xy = sine * row_zoom;
        double const yx = (cosine * shear_x - sine * shear_y) * column_zoom;
        double const xx = (sine * shear_x + cosine * shear_y) * column_zoom;
        double const middle_y = double(image.height) / 2 - 0.5;
        double const middle_x = double(image.width) / 2 - 0.5;
        double const y0 = cosine * down - sine * right + middle_y - yy * middle_y - yx * middle_x;
        double const x0 = sine * down + cosine * right + middle_x - xy * middle_y - xx * middle_x;
        std::vector<T> const before(image.values, image.values + image.count());
        for (size_t y = 0; y < image.height; ++y) {
            for (size_t x = 0; x < image.width; ++x) {
                double const from_y = yy * double(y) + yx * double(x) + y0;
                double const from_x = xy * double(y) + xx * double(x) + x0;
                interpolate(image, before.data(), y * image.width + x, from_y, from_x);
            }
        }
    }

private:
    template <class T>
    void interpolate(pixels<T> image, T const* before, size_t to, double y, double x) const {
        auto const height = std::ptrdiff_t(image.height), width = std::ptrdiff_t(image.width);
        double const floor_y = std::floor(y), floor_x = std::floor(x);
        T const weight_y = T(y - floor_y), weight_x = T(x - floor_x);
        std::ptrdiff_t places[2][2];
        for (int dy = 0; dy < 2; ++dy) {
            auto const row = detail::place_within(std::ptrdiff_t(floor_y) + dy, height, fill);
            for (int dx = 0; dx < 2; ++dx) {
                auto const column = detail::place_within(std::ptrdiff_t(floor_x) + dx, width, fill);
                places[dy][dx] = row < 0 || column < 0 ? -1 : row * width + column;
            }
        }
        for (size_t c = 0; c < image.channels; ++c) {
            T const* const plane = before + c * image.height * image.width;
            auto const row = [&](std::ptrdiff_t const* place) {
                T const left = place[0] < 0 ? T(value) : plane[place[0]];
                T const right_one = place[1] < 0 ? T(value) : plane[place[1]];
                return left + weight_x * (right_one - left);
            };
            T const upper = row(places[0]), lower = row(places[1]);
            image.row(c, 0)[to] = upper + weight_y * (lower - upper);
        }
    }
};

// An affine transform with random numbers from these ranges, as Keras's ImageDataGenerator draws
// them.
struct random_affine {
    double rotation = 0;     // degrees, to either side
    double width_shift = 0;  // of the width, to either side
    double height_shift = 0; // of the height
    double shear = 0;        // degrees
    double zoom = 0;         // factors from 1 - zoom to 1 + zoom, for each axis its own
    fill_mode fill = fill_mode::nearest;
    double value = 0; // beyond the image, for fill_mode::constant

    template <class T>
    void operator()(pixels<T> image, detail::random_stream& random) const {
        affine drawn{.fill = fill, .value = value};
        drawn.rotation = detail::symmetric(rotation, random);
        drawn.down = detail::symmetric(height_shift, random) * double(image.height);
        drawn.right = detail::symmetric(width_shift, random) * double(image.width);
        drawn.shear = detail::symmetric(shear, random);
        drawn.row_zoom = 1 + detail::symmetric(zoom, random);
        drawn.column_zoom = 1 + detail::symmetric(zoom, random);
        drawn.apply(image);
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

// A part of random area and ratio (width : height), bilinearly resized to the whole image again:
// torchvision's RandomResizedCrop. For image files, folder_options::crop decodes no more than the
// part.
struct random_resized_crop {
    double scale[2] = {0.08, 1}; // of the area
    double ratio[2] = {3.0 / 4, 4.0 / 3};

    // A part of an image of this size; where none of ten fits, the largest one of a ratio within
    // the range, in the middle. Throws castnet::error for a range that is none.
    rectangle draw(size_t width, size_t height, detail::random_stream& random) const {
        for (auto const& range : {scale, ratio}) {
            if (!(range[0] > 0 && range[0] <= range[1] && std::isfinite(range[1]))) {
                throw error({"castnet: data::random_resized_crop: found a range from ", range[0],
                             " to ", range[1], ", expected finite numbers above 0 in this order"});
            }
        }
        double const area = double(width) * double(height);
        auto const within = [&](double least, double most) {
            return least + (most - least) * random.uniform();
        };
        for (int tries = 0; tries < 10; ++tries) {
            double const size = area * within(scale[0], scale[1]);
            double const shape = std::exp(within(std::log(ratio[0]), std::log(ratio[1])));
            double const w = std::nearbyint(std::sqrt(size * shape));
            double const h = std::nearbyint(std::sqrt(size / shape));
            if (w >= 1 && w <= double(width) && h >= 1 && h <= double(height)) {
                rectangle part{0, 0, size_t(w), size_t(h)};
                part.y = random.below(height - part.height + 1);
                part.x = random.below(width - part.width + 1);
                return part;
            }
        }
        double const whole = double(width) / double(height);
        double const shape = std::clamp(whole, ratio[0], ratio[1]);
        rectangle part{0, 0, width, height};
        if (whole < shape) {
            part.height = std::max<size_t>(size_t(std::nearbyint(double(width) / shape)), 1);
        } else if (whole > shape) {
            part.width = std::max<size_t>(size_t(std::nearbyint(double(height) * shape)), 1);
        }
        part.x = (width - part.width) / 2;
        part.y = (height - part.height) / 2;
        return part;
    }

    template <class T>
    void operator()(pixels<T> image, detail::random_stream& random) const {
        rectangle const part = draw(image.width, image.height, random);
        std::vector<T> const before(image.values, image.values + image.count());
        place const columns = places(part.x, part.width, image.width);
        place const rows = places(part.y, part.height, image.height);
        for (size_t c = 0; c < image.channels; ++c) {
            T const* const plane = before.data() + c * image.height * image.width;
            for (size_t y = 0; y < image.height; ++y) {
                T const* const above = plane + rows.first[y] * image.width;
                T const* const below = plane + rows.second[y] * image.width;
                T const down = T(rows.weight[y]);
                for (size_t x = 0; x < image.width; ++x) {
                    size_t const left = columns.first[x], right = columns.second[x];
                    T const across = T(columns.weight[x]);
                    T const high = above[left] + across * (above[right] - above[left]);
                    T const low = below[left] + across * (below[right] - below[left]);
                    image.row(c, y)[x] = high + down * (low - high);
                }
            }
        }
    }

private:
    // Along one axis: between which two pixels a result lies, and where.
    struct place {
        std::vector<size_t> first, second;
        std::vector<double> weight; // of the second one
    };
    static place places(size_t from, size_t size, size_t results) {
        place p;
        for (size_t i = 0; i < results; ++i) {
            double const at = (double(i) + 0.5) * double(size) / double(results) - 0.5;
            double const within = std::clamp(at, 0.0, double(size - 1));
            auto const first = size_t(within);
            p.first.push_back(from + first);
            p.second.push_back(from + std::min(first + 1, size - 1));
            p.weight.push_back(within - double(first));
        }
        return p;
    }
};

// Brightness, contrast and saturation times factors from 1 - range to 1 + range, in this order
// (torchvision's ColorJitter without hue). Contrast keeps the mean of the grey image, saturation
// each pixel's grey; images of one channel have no saturation. Numbers are kept in [0, most].
struct color_jitter {
    double brightness = 0, contrast = 0, saturation = 0;
    double most = 1;

    template <class T>
    void operator()(pixels<T> image, detail::random_stream& random) const {
        T const light = T(1 + detail::symmetric(brightness, random));
        T const spread = T(1 + detail::symmetric(contrast, random));
        T const colour = T(1 + detail::symmetric(saturation, random));
        size_t const plane = image.height * image.width;
        blend(image, light, [](size_t) { return T(0); });
        if (contrast != 0) {
            double sum = 0;
            for (size_t i = 0; i < plane; ++i) {
                sum += double(grey(image, i));
            }
            T const mean = T(sum / double(plane));
            blend(image, spread, [&](size_t) { return mean; });
        }
        if (saturation != 0 && image.channels == 3) {
            blend(image, colour, [&](size_t i) { return grey(image, i); });
        }
    }

private:
    template <class T>
    static T grey(pixels<T> image, size_t i) {
        size_t const plane = image.height * image.width;
        T const* const v = image.values + i;
        return image.channels == 3
                   ? T(0.2989) * v[0] + T(0.587) * v[plane] + T(0.114) * v[2 * plane]
                   : v[0];
    }
    template <class T, class From>
    void blend(pixels<T> image, T factor, From const& from) const {
        size_t const plane = image.height * image.width;
        for (size_t i = 0; i < plane; ++i) {
            T const base = from(i);
            for (size_t c = 0; c < image.channels; ++c) {
                T& v = image.values[c * plane + i];
                v = std::clamp(base + factor * (v - base), T(0), T(most));
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

// Each channel minus its mean, divided by its standard deviation: not random, but the same kind of
// object. One number is for all channels; statistics_of() has those of a data set. Throws
// castnet::error, when it is made, unless the deviations are finite and above 0.
class standardize {
public:
    standardize(std::vector<double> mean, std::vector<double> deviation)
        : mean_{std::move(mean)}, deviation_{std::move(deviation)} {
        if (mean_.empty() || mean_.size() != deviation_.size()) {
            throw error({"castnet: data::standardize: found ", mean_.size(), " means and ",
                         deviation_.size(), " deviations, expected as many of both, at least one"});
        }
        for (double const d : deviation_) {
            if (!(d > 0) || !std::isfinite(d)) {
                throw error({"castnet: data::standardize: found the deviation ", d,
                             ", expected a finite number above 0"});
            }
        }
    }

    explicit standardize(channel_statistics statistics)
        : standardize{std::move(statistics.mean), std::move(statistics.deviation)} {}

    template <class T>
    void operator()(pixels<T> image, detail::random_stream&) const {
        if (mean_.size() != 1 && mean_.size() != image.channels) {
            throw error({"castnet: data::standardize: found ", mean_.size(),
                         " means for images of ", image.channels, " channels"});
        }
        for (size_t c = 0; c < image.channels; ++c) {
            size_t const of = mean_.size() == 1 ? 0 : c;
            T const mean = T(mean_[of]), factor = T(1 / deviation_[of]);
            for (T* v = image.row(c, 0); v != image.row(c, image.height); ++v) {
                *v = (*v - mean) * factor;
            }
        }
    }

private:
    std::vector<double> mean_, deviation_;
};

} // namespace castnet::data
