// Regression metrics that are not means over samples.
#pragma once

#include <castnet/nn/metrics.hpp>
#include <castnet/nn/reshape.hpp>

#include <cmath>
#include <limits>
#include <span>

namespace castnet {

// The root of the mean squared error over all elements of all samples (Keras'
// RootMeanSquaredError).
struct rmse_metric {
    static constexpr char const* name = "rmse";
    static constexpr bool labels = false;

    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        return mse(prediction, target);
    }
    double result(std::span<double const> sums, double weight) const {
        return std::sqrt(sums[0] / weight);
    }
};
inline constexpr rmse_metric rmse{};

// The coefficient of determination, 1 - squared errors / squared differences of the targets from
// their mean, the mean over the outputs (scikit-learn's r2_score). Where all targets of an output
// are alike, it is 1 if all predictions are right and else 0.
//
// The differences are computed from the sums of the targets and of their squares, and lose digits
// where the mean is much larger than they are: `center`, a number near the mean, is subtracted from
// the targets first. Where what is left of the mean is more than 1000 times as large as the
// differences, the result is NaN.
struct r2_metric {
    static constexpr char const* name = "r2";
    static constexpr bool labels = false;
    scalar center = 0;

    template <size_t Outputs>
    constexpr auto operator()(symbol<shape<Outputs>> prediction,
                              symbol<shape<Outputs>> target) const {
        auto const near = target - center;
        return concat(square(prediction - target), near, square(near));
    }
    double result(std::span<double const> sums, double weight) const {
        size_t const outputs = sums.size() / 3;
        double total = 0;
        for (size_t i = 0; i < outputs; ++i) {
            double const errors = sums[i], near = sums[outputs + i];
            double const squares = sums[2 * outputs + i];
            double const differences = squares - near * near / weight;
            if (differences > 1e-6 * squares) {
                total += 1 - errors / differences;
            } else if (differences >= -1e-12 * squares && differences <= 1e-12 * squares) {
                total += errors > 0 ? 0 : 1;
            } else { // the squares were rounded to float: hardly a digit is right
                total += std::numeric_limits<double>::quiet_NaN();
            }
        }
        return total / double(outputs);
    }
};
inline constexpr r2_metric r2{};

} // namespace castnet
