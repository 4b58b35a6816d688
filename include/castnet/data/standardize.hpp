// Standardized images: each channel with mean 0 and deviation 1.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/data/description.hpp>
#include <castnet/data/detail/random_stream.hpp>
#include <castnet/data/pixels.hpp>

#include <utility>
#include <vector>

namespace castnet::data {

// Each channel minus its mean, divided by its standard deviation: not random, but the same kind of
// object. One number is for all channels; statistics_of() has those of a data set. Throws
// castnet::error, when it is made, unless the means are finite, and the deviations finite and above
// 0. Images have up to 16 channels.
class standardize {
public:
    standardize(std::vector<double> mean, std::vector<double> deviation)
        : mean_{std::move(mean)}, deviation_{std::move(deviation)} {
        detail::check_statistics("data::standardize", mean_, deviation_);
    }

    explicit standardize(channel_statistics statistics)
        : standardize{std::move(statistics.mean), std::move(statistics.deviation)} {}

    static constexpr size_t most_channels = 16;
    struct drawn {
        double mean[most_channels], deviation[most_channels];

        template <class T>
        void change(pixels<T> image) const {
            for (size_t c = 0; c < image.channels; ++c) {
                T const middle = T(mean[c]), factor = T(1 / deviation[c]);
                for (T* v = image.row(c, 0); v != image.row(c, image.height); ++v) {
                    *v = (*v - middle) * factor;
                }
            }
        }

        template <class From, class To>
        CASTNET_HD void operator()(From const& from, To const& to, size_t y, size_t x) const {
            using T = decltype(from.get(0, 0, 0));
            for (size_t c = 0; c < from.channels; ++c) {
                to.set(c, y, x, (from.get(c, y, x) - T(mean[c])) * T(1 / deviation[c]));
            }
        }
    };
    drawn draw(size_t channels, size_t, size_t, detail::random_stream&) const {
        if ((mean_.size() != 1 && mean_.size() != channels) || channels > most_channels) {
            throw error({"castnet: data::standardize: found ", quantity(mean_.size(), "mean"),
                         " for images of ", quantity(channels, "channel"),
                         ", of which there may be ", most_channels});
        }
        drawn all{};
        for (size_t c = 0; c < channels; ++c) {
            size_t const of = mean_.size() == 1 ? 0 : c;
            all.mean[c] = mean_[of];
            all.deviation[c] = deviation_[of];
        }
        return all;
    }

private:
    std::vector<double> mean_, deviation_;
};

} // namespace castnet::data
