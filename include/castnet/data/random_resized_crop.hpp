// Random parts of images, resized to whole ones.
#pragma once

#include <castnet/core/error.hpp>
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

} // namespace castnet::data
