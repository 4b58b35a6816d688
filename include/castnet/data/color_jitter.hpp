// Random brightness, contrast and saturation of images.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/data/detail/random_stream.hpp>
#include <castnet/data/pixels.hpp>

#include <algorithm>
#include <array>

namespace castnet::data {

// Brightness, contrast and saturation times factors from 1 - range to 1 + range, in this order
// (torchvision's ColorJitter without hue). Contrast keeps the mean of the grey image, saturation
// each pixel's grey; images of one channel have no saturation. Numbers are kept in [0, most].
struct color_jitter {
    double brightness = 0, contrast = 0, saturation = 0;
    double most = 1;
    static constexpr char const* name = "data::color_jitter";
    [[gnu::cold]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"brightness", brightness},
                                              {"contrast", contrast},
                                              {"saturation", saturation},
                                              {"most", most, hyperparameter::positive}});
    }

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

} // namespace castnet::data
