// Areas under the ROC curve and under that of precision and recall, metrics of binary decisions,
// and the curves that their counts make.
#pragma once

#include <castnet/graph/row_index.hpp>
#include <castnet/nn/axis_reductions.hpp>
#include <castnet/nn/metrics.hpp>
#include <castnet/nn/reshape.hpp>

#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace castnet {

// Of the decisions whose probability is above a threshold.
struct roc_point {
    double threshold;
    double false_positive_rate; // their part of those whose target is 0
    double true_positive_rate;  // their part of those whose target is 1
};
struct precision_recall_point {
    double threshold;
    double recall;    // their part of those whose target is 1
    double precision; // the part of them whose target is 1
};

// How many decisions with a target of 1, and how many with 0, are above each of some thresholds, by
// weight. Threshold i of n is i / (n - 1), but all pass the first one and none the last.
template <size_t Thresholds>
class threshold_counts {
public:
    static constexpr size_t sums = 2 * (Thresholds - 1);

    // Those of the targets 1, then those of 0, without the last threshold.
    explicit threshold_counts(std::span<double const> numbers) {
        for (size_t i = 0; i + 1 < Thresholds; ++i) {
            hits_[i] = numbers[i];
            false_alarms_[i] = numbers[Thresholds - 1 + i];
        }
    }

    // The points of both curves, by rising thresholds. A rate is 0 where it would divide by 0, and
    // the precision of no decisions 1 (as in scikit-learn).
    [[gnu::noinline]] std::vector<roc_point> roc() const {
        std::vector<roc_point> points;
        for (size_t i = 0; i < Thresholds; ++i) {
            points.push_back({threshold(i), ratio(false_alarms_[i], false_alarms_[0], 0),
                              ratio(hits_[i], hits_[0], 0)});
        }
        return points;
    }
    [[gnu::noinline]] std::vector<precision_recall_point> precision_recall() const {
        std::vector<precision_recall_point> points;
        for (size_t i = 0; i < Thresholds; ++i) {
            points.push_back({threshold(i), ratio(hits_[i], hits_[0], 0),
                              ratio(hits_[i], hits_[i] + false_alarms_[i], 1)});
        }
        return points;
    }

    // The area under the ROC curve, with lines between its points; 0 where all targets are alike.
    double roc_area() const {
        double sum = 0;
        for (size_t i = 0; i + 1 < Thresholds; ++i) {
            sum += (false_alarms_[i] - false_alarms_[i + 1]) * (hits_[i] + hits_[i + 1]) / 2;
        }
        return ratio(sum, hits_[0] * false_alarms_[0], 0);
    }

    // The area under the curve of precision over recall, between whose points both counts grow
    // evenly (Davis and Goadrich, 2006: "The relationship between precision-recall and ROC
    // curves"); 0 where no target is 1.
    [[gnu::noinline]] double precision_recall_area() const {
        double sum = 0;
        for (size_t i = 0; i + 1 < Thresholds; ++i) {
            double const fewer = hits_[i + 1] + false_alarms_[i + 1];
            double const more = hits_[i] + false_alarms_[i], hits = hits_[i] - hits_[i + 1];
            double const slope = ratio(hits, more - fewer, 0);
            double const start = hits_[i + 1] - slope * fewer;
            sum += slope * (hits + (fewer > 0 ? start * std::log(more / fewer) : 0));
        }
        return ratio(sum, hits_[0], 0);
    }

private:
    static double threshold(size_t i) { return double(i) / double(Thresholds - 1); }
    static double ratio(double part, double whole, double otherwise) {
        return whole > 0 ? part / whole : otherwise;
    }

    std::array<double, Thresholds> hits_{}, false_alarms_{};
};

namespace detail {

// Counts at 200 thresholds of the probability from 0 to 1, of which the first is passed by all
// and the last by none.
struct threshold_metric {
    static constexpr bool labels = false;
    static constexpr size_t thresholds = 200;

    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        takes_logits(logits);
        constexpr size_t steps = thresholds - 1, decisions = S::count;
        auto const number = [&] {
            if constexpr (decisions == 1) {
                return channel_index<shape<steps>>(*logits.g);
            } else {
                return row_index<shape<steps, decisions>>(*logits.g);
            }
        }();
        auto const of_all = [](auto counts) {
            if constexpr (decisions == 1) {
                return counts;
            } else {
                return sum<1>(counts);
            }
        };
        auto const all = equal(number, 0);
        auto const reached = reshape_to<shape<decisions>>(sigmoid(logits) * double(steps));
        auto const positive = reshape_to<shape<decisions>>(greater(target, 0.5));
        return concat(of_all(positive * maximum(all, greater(reached, number))),
                      of_all((1 - positive) * maximum(all, 1 - less_equal(reached, number))));
    }
    threshold_counts<thresholds> counts(std::span<double const> sums) const {
        return threshold_counts<thresholds>{sums};
    }
};

} // namespace detail

// The area under the curve of the rate of true positives over that of false ones, of logits and
// targets of 0 or 1, all elements of all samples together. The curve has a point for each of 200
// thresholds and lines between them (Keras' AUC()). 0 where all targets are alike. A logit that is
// NaN is wrong at every threshold. The curve itself, and that of precision and recall:
//     auto const curve = training.evaluate(test).counts<"auc">().roc();
struct auc_metric : detail::threshold_metric {
    static constexpr char const* name = "auc";
    double result(std::span<double const> sums, double) const { return counts(sums).roc_area(); }
};
inline constexpr auc_metric auc{};

// The area under the curve of precision over recall, from the same counts (Keras'
// AUC(curve="PR")), which says more than auc where few targets are 1. 0 where none is.
struct pr_auc_metric : detail::threshold_metric {
    static constexpr char const* name = "pr_auc";
    double result(std::span<double const> sums, double) const {
        return counts(sums).precision_recall_area();
    }
};
inline constexpr pr_auc_metric pr_auc{};

} // namespace castnet
