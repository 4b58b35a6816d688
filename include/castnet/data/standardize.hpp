// Standardized images: each channel with mean 0 and deviation 1.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/data/description.hpp>
#include <castnet/data/detail/random_stream.hpp>
#include <castnet/data/pixels.hpp>

#include <cmath>
#include <utility>
#include <vector>

namespace castnet::data {

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
