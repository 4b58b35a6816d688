// Confusion matrix of classes, a metric, with the precision, recall and F-score of each class.
#pragma once

#include <castnet/nn/metrics.hpp>
#include <castnet/nn/precision_recall.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace castnet {

// How often samples of each class were taken for which, by weight. (Sums over samples: of several
// evaluations they may be added up.)
template <size_t Classes>
class confusion_counts {
public:
    static constexpr size_t classes = Classes;
    static constexpr size_t sums = Classes * (Classes + 1);

    // Row by row, one for each label: a number for each class that was predicted, and after them
    // that of samples without a prediction.
    explicit confusion_counts(std::span<double const> rows) {
        std::copy_n(rows.begin(), sums, counts_.begin());
    }

    // Samples of the class `label` for which `predicted` was the largest output.
    double operator()(size_t label, size_t predicted) const {
        return counts_[label * (Classes + 1) + predicted];
    }
    // Samples of the class whose largest output is there twice, or NaN.
    double undecided(size_t label) const { return operator()(label, Classes); }

    // The part of the predictions of a class that are right; 0 where there are none.
    double precision(size_t which) const { return decisions(which).precision(); }
    // The part of the samples of a class that are predicted so; 0 where there are none.
    double recall(size_t which) const { return decisions(which).recall(); }
    // The harmonic mean of both; 0 where there are none.
    double f1(size_t which) const { return decisions(which).f_score(1); }

    // The part of all samples that are predicted right; 0 where there are none.
    double accuracy() const {
        double right = 0, all = 0;
        for (size_t i = 0; i < Classes; ++i) {
            right += operator()(i, i);
            all += samples(i);
        }
        return all > 0 ? right / all : 0;
    }

private:
    double samples(size_t label) const {
        double all = 0;
        for (size_t k = 0; k <= Classes; ++k) {
            all += operator()(label, k);
        }
        return all;
    }
    detail::decision_counts decisions(size_t which) const {
        double made = 0;
        for (size_t label = 0; label < Classes; ++label) {
            made += operator()(label, which);
        }
        double const all[] = {operator()(which, which), made, samples(which)};
        return detail::decision_counts{all};
    }

    std::array<double, sums> counts_;
};

template <size_t Given, size_t Classes>
inline constexpr bool as_many_classes = Given == Classes;

// How often each class was taken for which (scikit-learn's confusion_matrix), as a metric: its
// column of a history is the accuracy, and
//     auto const confusion = training.evaluate(test).counts<"confusion_matrix">();
// has the counts, confusion(label, predicted), as a confusion_counts. A step adds up Classes *
// (Classes + 1) numbers for each sample.
template <size_t Classes>
struct confusion_matrix_metric {
    static constexpr char const* name = "confusion_matrix";
    static constexpr bool labels = true;

    template <size_t Outputs>
    constexpr auto operator()(symbol<shape<Outputs>> prediction, symbol<shape<>> label) const {
        static_assert(as_many_classes<Classes, Outputs>,
                      "castnet: confusion_matrix<classes> needs as many classes as the network has "
                      "outputs; see as_many_classes<given, outputs>");
        auto const made = strict_argmax(prediction);
        auto const column = where(less(made, 0), double(Classes), made);
        constexpr size_t numbers = confusion_counts<Classes>::sums;
        return equal(channel_index<shape<numbers>>(*prediction.g),
                     label * double(Classes + 1) + column);
    }
    double result(std::span<double const> sums, double) const { return counts(sums).accuracy(); }
    confusion_counts<Classes> counts(std::span<double const> sums) const {
        return confusion_counts<Classes>{sums};
    }
};
template <size_t Classes>
inline constexpr confusion_matrix_metric<Classes> confusion_matrix{};

} // namespace castnet
