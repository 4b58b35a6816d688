// Affine transforms of images: rotation, shifts, shear and zoom.
#pragma once

#include <castnet/data/detail/random_stream.hpp>
#include <castnet/data/pixels.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace castnet::data {

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

} // namespace castnet::data
