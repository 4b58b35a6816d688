// Random brightness, contrast and saturation of images.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/hyperparameters.hpp>
#include <castnet/data/detail/random_stream.hpp>
#include <castnet/data/pixels.hpp>

#include <array>
#include <cstddef>

namespace castnet::data {

// Brightness, contrast and saturation times factors from 1 - range, or 0, to 1 + range, in this
// order (torchvision's ColorJitter without hue). Contrast keeps the mean of the grey image,
// saturation each pixel's grey; images of one channel have no saturation. Numbers are kept in [0,
// most].
struct color_jitter {
    double brightness = 0, contrast = 0, saturation = 0;
    double most = 1;
    static constexpr char const* name = "data::color_jitter";
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>({{"brightness", brightness},
                                              {"contrast", contrast},
                                              {"saturation", saturation},
                                              {"most", most, hyperparameter::positive}});
    }

    struct drawn {
        double light, spread, colour, most; // the first three are factors
        bool spreads, colours;              // whether there is a range for them
        double mean = 0;                    // of the bright image's grey

        // The grey of a row's bright pixels, of which contrast needs the mean.
        template <class From>
        CASTNET_HD double row_sum(From const& from, size_t y) const {
            double sum = 0;
            for (size_t x = 0; spreads && x < from.width; ++x) {
                auto const lit_at = [&](size_t c) { return lit(from.get(c, y, x)); };
                sum +=
                    double(from.channels == 3 ? grey(lit_at(0), lit_at(1), lit_at(2)) : lit_at(0));
            }
            return sum;
        }
        CASTNET_HD void set_sum(double sum, size_t pixels) { mean = sum / double(pixels); }

        template <class From, class To>
        CASTNET_HD void operator()(From const& from, To const& to, size_t y, size_t x) const {
            auto const contrasted_at = [&](size_t c) { return contrasted(lit(from.get(c, y, x))); };
            bool const coloured = colours && from.channels == 3;
            auto base = contrasted_at(0);
            if (coloured) {
                base = grey(base, contrasted_at(1), contrasted_at(2));
            }
            for (size_t c = 0; c < from.channels; ++c) {
                to.set(c, y, x,
                       coloured ? blend(base, colour, contrasted_at(c)) : contrasted_at(c));
            }
        }

        // The same plane by plane.
        template <class T>
        void change(pixels<T> image) const {
            size_t const plane = image.height * image.width;
            drawn with_mean = *this;
            if (spreads) {
                double sum = 0;
                for (size_t y = 0; y < image.height; ++y) {
                    sum += row_sum(image, y);
                }
                with_mean.set_sum(sum, plane);
            }
            for (size_t i = 0; i < image.count(); ++i) {
                image.values[i] = with_mean.contrasted(lit(image.values[i]));
            }
            for (size_t i = 0; colours && image.channels == 3 && i < plane; ++i) {
                T* const v = image.values + i;
                T const base = grey(v[0], v[plane], v[2 * plane]);
                for (size_t c = 0; c < 3; ++c) {
                    v[c * plane] = blend(base, colour, v[c * plane]);
                }
            }
        }

    private:
        template <class T>
        CASTNET_HD T blend(T base, double factor, T v) const {
            T const mixed = base + T(factor) * (v - base), top = T(most);
            return mixed < T(0) ? T(0) : mixed > top ? top : mixed;
        }
        template <class T>
        CASTNET_HD T lit(T v) const {
            return blend(T(0), light, v);
        }
        template <class T>
        CASTNET_HD T contrasted(T v) const {
            return spreads ? blend(T(mean), spread, v) : v;
        }
        template <class T>
        CASTNET_HD static T grey(T red, T green, T blue) {
            return T(0.2989) * red + T(0.587) * green + T(0.114) * blue;
        }
    };
    drawn draw(size_t, size_t, size_t, detail::random_stream& random) const {
        auto const factor = [&](double range) {
            return range > 1 ? (1 + range) * random.uniform()
                             : 1 + detail::symmetric(range, random);
        };
        // braces: in order
        return {factor(brightness), factor(contrast), factor(saturation), most,
                contrast != 0,      saturation != 0};
    }
};

} // namespace castnet::data
