// Mean intersection over union of classes, a metric of segmentations.
#pragma once

#include <castnet/nn/metrics.hpp>

namespace castnet {

// For every class the steps or pixels that have it in both prediction and label, divided by those
// that have it in either, over all samples; the mean over the classes that occur in either (Keras'
// MeanIoU, torchmetrics' MulticlassJaccardIndex). Labels that are data::ignored do not count, ties
// and NaN are of no class. A step adds up 2 * classes numbers for each sample.
struct mean_iou_metric {
    static constexpr char const* name = "mean_iou";
    static constexpr bool labels = true;

    template <Shape S, LabelsOf<S> Labels>
    constexpr auto operator()(symbol<S> prediction, symbol<Labels> numbers) const {
        auto const label = detail::beside<S>(numbers);
        auto const classes = detail::channel_numbers<S>(*prediction.g);
        auto const predicted = equal(strict_argmax(prediction), classes) * detail::counts(label);
        auto const actual = equal(label, classes);
        return concat(sum_pixels(predicted * actual), sum_pixels(maximum(predicted, actual)));
    }
    constexpr double result(std::span<double const> sums, double) const {
        size_t const classes = sums.size() / 2;
        double sum = 0, there = 0;
        for (size_t i = 0; i < classes; ++i) {
            double const both = sums[i], either = sums[classes + i];
            sum += either > 0 ? both / either : 0;
            there += either > 0 ? 1 : 0;
        }
        return there > 0 ? sum / there : 0;
    }
};
inline constexpr mean_iou_metric mean_iou{};

} // namespace castnet
