// Synthetic data sets for tests and first steps: random numbers, equal for equal seeds.
#pragma once

#include <castnet/data/dataset.hpp>
#include <castnet/data/detail/random_stream.hpp>

namespace castnet::data {

// Clouds of points, one per class, as scikit-learn's make_blobs: the centres lie at random in
// [-10, 10) on every axis, the points around them with about the standard deviation `spread`.
// Sample i has class i % Classes. The same seed has the same centres whatever the number of
// samples; `part` draws other points around them, as for a test set.
template <size_t Classes, size_t Features>
dataset<label<Classes>, shape<Features>> blobs(size_t samples, std::uint64_t seed,
                                               double spread = 1, std::uint64_t part = 0) {
    static_assert(Classes > 0 && Features > 0,
                  "castnet: data::blobs<classes, features> needs at least one of each");
    constexpr std::uint32_t centre_purpose = 0x63656e74, point_purpose = 0x706f696e;
    detail::random_stream random_centre{centre_purpose, seed, 0};
    std::vector<double> centres(Classes * Features);
    for (double& coordinate : centres) {
        coordinate = 20 * random_centre.uniform() - 10;
    }
    detail::random_stream random{point_purpose, seed, part};
    std::vector<float> points;
    std::vector<int> labels;
    points.reserve(samples * Features);
    labels.reserve(samples);
    for (size_t i = 0; i < samples; ++i) {
        for (size_t j = 0; j < Features; ++j) {
            auto const centre = centres[i % Classes * Features + j];
            points.push_back(static_cast<float>(centre + spread * random.normal()));
        }
        labels.push_back(static_cast<int>(i % Classes));
    }
    return dataset<label<Classes>, shape<Features>>{std::move(points), labels};
}

// Points x, uniform in [-1, 1) on every axis, with the target sum of coefficients[j] * x[j], plus
// intercept, plus noise of about the standard deviation `noise`.
template <size_t Features>
dataset<shape<1>, shape<Features>> linear(size_t samples, std::uint64_t seed,
                                          float const (&coefficients)[Features],
                                          float intercept = 0, double noise = 0) {
    constexpr std::uint32_t purpose = 0x6c696e65;
    detail::random_stream random{purpose, seed, 0};
    std::vector<float> points, targets;
    points.reserve(samples * Features);
    targets.reserve(samples);
    for (size_t i = 0; i < samples; ++i) {
        auto y = static_cast<double>(intercept);
        for (float const coefficient : coefficients) {
            double const x = 2 * random.uniform() - 1;
            points.push_back(static_cast<float>(x));
            y += static_cast<double>(coefficient) * x;
        }
        targets.push_back(static_cast<float>(y + noise * random.normal()));
    }
    return dataset<shape<1>, shape<Features>>{std::move(points), std::move(targets)};
}

} // namespace castnet::data
