// Affine transforms of images: rotation, shifts, shear and zoom.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/hyperparameters.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/data/detail/random_stream.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace castnet::data {

// Values beyond an image: its edge again (aaa|abcd|ddd), one value, the image mirrored with its
// edge (cba|abcd|dcb), or the image again (bcd|abcd|abc); Keras' fill_mode, of which constant and
// wrap are interpolated here, too.
enum class fill_mode : std::uint8_t { nearest, constant, reflect, wrap };

namespace detail {

// The place of a pixel within an axis, or -1 beyond an image that is filled with one value.
CASTNET_HD inline std::ptrdiff_t place_within(std::ptrdiff_t at, std::ptrdiff_t size,
                                              fill_mode fill) {
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
// Keras' apply_affine_transform, whose middle is that of a square, with ty and tx as down and
// right.
struct affine {
    double rotation = 0;                  // degrees
    double down = 0, right = 0;           // pixels; the image moves up and to the left
    double shear = 0;                     // degrees; rows move along themselves
    double row_zoom = 1, column_zoom = 1; // above 1: smaller
    fill_mode fill = fill_mode::nearest;
    double value = 0; // beyond the image, for fill_mode::constant
    static constexpr char const* name = "data::affine";
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"rotation", rotation, hyperparameter::finite},
                                              {"down", down, hyperparameter::finite},
                                              {"right", right, hyperparameter::finite},
                                              {"shear", shear, hyperparameter::finite},
                                              {"row_zoom", row_zoom, hyperparameter::finite},
                                              {"column_zoom", column_zoom, hyperparameter::finite},
                                              {"value", value, hyperparameter::finite}});
    }

    // Where the pixels of the result come from: rotation * shift * shear * zoom.
    struct drawn {
        double yy, yx, xy, xx, y0, x0;
        fill_mode fill;
        double value;

        template <class From, class To>
        CASTNET_HD void operator()(From const& from, To const& to, size_t y, size_t x) const {
            using T = decltype(from.get(0, 0, 0));
            double const at_y = yy * double(y) + yx * double(x) + y0;
            double const at_x = xy * double(y) + xx * double(x) + x0;
            double const floor_y = std::floor(at_y), floor_x = std::floor(at_x);
            T const weight_y = T(at_y - floor_y), weight_x = T(at_x - floor_x);
            std::ptrdiff_t rows[2], columns[2];
            for (int k = 0; k < 2; ++k) {
                rows[k] = detail::place_within(std::ptrdiff_t(floor_y) + k,
                                               std::ptrdiff_t(from.height), fill);
                columns[k] = detail::place_within(std::ptrdiff_t(floor_x) + k,
                                                  std::ptrdiff_t(from.width), fill);
            }
            T const filled = T(value);
            bool const within = rows[0] >= 0 && rows[1] >= 0 && columns[0] >= 0 && columns[1] >= 0;
            for (size_t c = 0; c < from.channels; ++c) {
                auto const pixel = [&](int row, int column) {
                    return within || (rows[row] >= 0 && columns[column] >= 0)
                               ? from.get(c, size_t(rows[row]), size_t(columns[column]))
                               : filled;
                };
                T const left = pixel(0, 0), lower_left = pixel(1, 0);
                T const upper = left + weight_x * (pixel(0, 1) - left);
                T const lower = lower_left + weight_x * (pixel(1, 1) - lower_left);
                to.set(c, y, x, upper + weight_y * (lower - upper));
            }
        }
    };
    drawn draw(size_t height, size_t width) const {
        constexpr double degree = std::numbers::pi / 180;
        double const cosine = std::cos(rotation * degree), sine = std::sin(rotation * degree);
        double const shear_x = -std::sin(shear * degree), shear_y = std::cos(shear * degree);
        double const yy = (cosine * shear_y + sine * shear_x) * row_zoom;
        double const xy = (cosine * shear_x - sine * shear_y) * row_zoom;
        double const yx = sine * column_zoom, xx = cosine * column_zoom;
        double const middle_y = double(height) / 2 - 0.5, middle_x = double(width) / 2 - 0.5;
        return {yy,
                yx,
                xy,
                xx,
                cosine * down + sine * right + middle_y - yy * middle_y - yx * middle_x,
                cosine * right - sine * down + middle_x - xy * middle_y - xx * middle_x,
                fill,
                value};
    }
    drawn draw(size_t, size_t height, size_t width, detail::random_stream&) const {
        return draw(height, width);
    }
};

// An affine transform with random numbers from these ranges, as Keras' ImageDataGenerator draws
// them.
struct random_affine {
    double rotation = 0;     // degrees, to either side
    double width_shift = 0;  // of the width, to either side
    double height_shift = 0; // of the height
    double shear = 0;        // degrees
    double zoom = 0;         // below 1: factors from 1 - zoom to 1 + zoom, for each axis its own
    fill_mode fill = fill_mode::nearest;
    double value = 0; // beyond the image, for fill_mode::constant
    static constexpr char const* name = "data::random_affine";
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"rotation", rotation},
                                              {"width_shift", width_shift},
                                              {"height_shift", height_shift},
                                              {"shear", shear},
                                              {"zoom", zoom, hyperparameter::below_one},
                                              {"value", value, hyperparameter::finite}});
    }

    affine::drawn draw(size_t, size_t height, size_t width, detail::random_stream& random) const {
        affine how{.fill = fill, .value = value};
        how.rotation = detail::symmetric(rotation, random);
        how.down = detail::symmetric(height_shift, random) * double(height);
        how.right = detail::symmetric(width_shift, random) * double(width);
        how.shear = detail::symmetric(shear, random);
        how.row_zoom = 1 + detail::symmetric(zoom, random);
        how.column_zoom = 1 + detail::symmetric(zoom, random);
        return how.draw(height, width);
    }
};

} // namespace castnet::data
