// Area under the ROC curve, a metric of binary decisions.
#pragma once

#include <castnet/nn/metrics.hpp>
#include <castnet/nn/reshape.hpp>

#include <span>

namespace castnet {

// The area under the curve of the rate of true positives over that of false ones, one decision for
// each sample from a logit and a target of 0 or 1. The curve has 200 points, of as many thresholds
// of the probability from 0 to 1, of which the first is passed by all and the last by none, and
// lines between them (Keras' AUC()). 0 where all targets are alike. A logit that is NaN is wrong at
// every threshold.
struct auc_metric {
    static constexpr char const* name = "auc";
    static constexpr bool labels = false;
    static constexpr size_t thresholds = 200;

    template <Shape S>
        requires std::is_same_v<S, shape<1>>
    constexpr auto operator()(symbol<S> logit, symbol<S> target) const {
        detail::takes_logits(logit);
        constexpr size_t steps = thresholds - 1;
        auto const number = channel_index<shape<steps>>(*logit.g);
        auto const all = equal(number, 0);
        auto const reached = sigmoid(logit) * double(steps);
        auto const positive = greater(target, 0.5);
        return concat(positive * maximum(all, greater(reached, number)),
                      (1 - positive) * maximum(all, 1 - less_equal(reached, number)));
    }

    double result(std::span<double const> sums, double) const {
        auto const hits = sums.first(sums.size() / 2), false_alarms = sums.last(sums.size() / 2);
        double area = 0;
        for (size_t i = 0; i < hits.size(); ++i) {
            bool const is_last = i + 1 == hits.size();
            double const next_hits = is_last ? 0 : hits[i + 1];
            double const next_false_alarms = is_last ? 0 : false_alarms[i + 1];
            area += (false_alarms[i] - next_false_alarms) * (hits[i] + next_hits) / 2;
        }
        double const whole = hits[0] * false_alarms[0];
        return whole > 0 ? area / whole : 0;
    }
};
inline constexpr auc_metric auc{};

} // namespace castnet
