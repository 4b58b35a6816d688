// Randomly resized crops: a random part of an image, resized to the size of the whole.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/data/detail/random_stream.hpp>
#include <castnet/data/pixels.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace castnet::data {

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
            if (!(range[0] > 0 && range[0] <= range[1] && castnet::detail::is_finite(range[1]))) {
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

    struct drawn {
        rectangle part;

        template <class From, class To>
        CASTNET_HD void operator()(From const& from, To const& to, size_t y, size_t x) const {
            place const row = place_of(y, part.y, part.height, from.height);
            place const column = place_of(x, part.x, part.width, from.width);
            for (size_t c = 0; c < from.channels; ++c) {
                to.set(c, y, x, between(from, c, row, column));
            }
        }
        template <class T>
        void change(pixels<T> image) const {
            std::vector<T> const before(image.values, image.values + image.count());
            pixels<T const> const from{before.data(), image.channels, image.height, image.width};
            std::vector<place> columns;
            columns.reserve(image.width);
            for (size_t x = 0; x < image.width; ++x) {
                columns.push_back(place_of(x, part.x, part.width, image.width));
            }
            for (size_t y = 0; y < image.height; ++y) {
                place const row = place_of(y, part.y, part.height, image.height);
                for (size_t c = 0; c < image.channels; ++c) {
                    for (size_t x = 0; x < image.width; ++x) {
                        image.set(c, y, x, between(from, c, row, columns[x]));
                    }
                }
            }
        }

    private:
        // Along one axis: between which two pixels a result lies, and where.
        struct place {
            size_t first, second;
            double weight; // of the second one
        };
        CASTNET_HD static place place_of(size_t i, size_t from, size_t size, size_t results) {
            double const at = (double(i) + 0.5) * double(size) / double(results) - 0.5;
            double const last = double(size - 1), within = at < 0 ? 0 : at > last ? last : at;
            auto const first = size_t(within);
            return {from + first, from + (first + 1 < size ? first + 1 : size - 1),
                    within - double(first)};
        }
        template <class From>
        CASTNET_HD static auto between(From const& from, size_t channel, place const& row,
                                       place const& column) {
            using T = decltype(from.get(0, 0, 0));
            auto const at = [&](size_t y) {
                T const left = from.get(channel, y, column.first);
                return left + T(column.weight) * (from.get(channel, y, column.second) - left);
            };
            T const high = at(row.first);
            return high + T(row.weight) * (at(row.second) - high);
        }
    };
    drawn draw(size_t, size_t height, size_t width, detail::random_stream& random) const {
        return {draw(width, height, random)};
    }
};

} // namespace castnet::data
