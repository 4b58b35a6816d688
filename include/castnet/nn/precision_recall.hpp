// Precision, recall and F-score: metrics of how many decisions are right.
//
// Those of binary decisions take logits and targets of 0 and 1, and count all elements of all
// samples together: those whose probability is above `threshold` are decisions for 1 (Keras'
// Precision and Recall; scikit-learn's precision_score, …). The macro_… ones take class numbers and
// are the mean over the classes, each against all others (scikit-learn's average="macro",
// torchmetrics' default): classes that no sample has and that are never predicted do not count. All
// of them are 0 where they would divide by 0. An output that is NaN is no decision, as are ties of
// classes: so they are never right, and lower recall.
#pragma once

#include <castnet/nn/metrics.hpp>
#include <castnet/nn/reshape.hpp>

#include <array>
#include <span>

namespace castnet {

namespace detail {

// How many decisions for 1, or for a class, are right, how many there are and how many there should
// be.
struct decision_counts {
    double right, made, due;

    constexpr explicit decision_counts(std::span<double const> sums, size_t which = 0)
        : right{sums[which]}, made{sums[which + sums.size() / 3]},
          due{sums[which + sums.size() / 3 * 2]} {}

    constexpr double precision() const { return made > 0 ? right / made : 0; }
    constexpr double recall() const { return due > 0 ? right / due : 0; }
    // The harmonic mean of both, in which recall counts beta times as much.
    constexpr double f_score(double beta) const {
        double const all = made + beta * beta * due;
        return all > 0 ? (1 + beta * beta) * right / all : 0;
    }
};

template <Shape S>
constexpr auto count_decisions(symbol<S> logits, symbol<S> target, scalar threshold) {
    takes_logits(logits);
    auto const due = greater(target, 0.5), made = greater(sigmoid(logits), threshold);
    return stack(sum(due * made), sum(made), sum(due));
}
template <size_t Classes>
constexpr auto count_decisions(symbol<shape<Classes>> prediction, symbol<shape<>> label) {
    auto const number = channel_index<shape<Classes>>(*prediction.g);
    auto const due = equal(number, label), made = equal(number, strict_argmax(prediction));
    return concat(due * made, made, due);
}

// The mean of score(counts) over the classes that there are.
inline double mean_of_classes(std::span<double const> sums,
                              double (*score)(decision_counts const&)) {
    double total = 0, classes = 0;
    for (size_t i = 0; i < sums.size() / 3; ++i) {
        decision_counts const of_class{sums, i};
        if (of_class.made + of_class.due > 0) {
            total += score(of_class);
            ++classes;
        }
    }
    return classes > 0 ? total / classes : 0;
}

} // namespace detail

// The part of the decisions for 1 that are right.
struct precision_metric {
    static constexpr char const* name = "precision";
    static constexpr bool labels = false;
    scalar threshold = 0.5;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>(
            {{"threshold", threshold.value, hyperparameter::fraction}});
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        return detail::count_decisions(logits, target, threshold);
    }
    double result(std::span<double const> sums, double) const {
        return detail::decision_counts{sums}.precision();
    }
};
inline constexpr precision_metric precision{};

// The part of the targets of 1 that are decided so.
struct recall_metric {
    static constexpr char const* name = "recall";
    static constexpr bool labels = false;
    scalar threshold = 0.5;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>(
            {{"threshold", threshold.value, hyperparameter::fraction}});
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        return detail::count_decisions(logits, target, threshold);
    }
    double result(std::span<double const> sums, double) const {
        return detail::decision_counts{sums}.recall();
    }
};
inline constexpr recall_metric recall{};

// (1 + beta^2) precision * recall / (beta^2 precision + recall).
struct f_beta_metric {
    static constexpr char const* name = "f_beta";
    static constexpr bool labels = false;
    scalar beta = 1;
    scalar threshold = 0.5;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>(
            {{"beta", beta.value}, {"threshold", threshold.value, hyperparameter::fraction}});
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        return detail::count_decisions(logits, target, threshold);
    }
    double result(std::span<double const> sums, double) const {
        return detail::decision_counts{sums}.f_score(beta.value);
    }
};
inline constexpr f_beta_metric f_beta{};

// f_beta with a beta of 1.
struct f1_metric {
    static constexpr char const* name = "f1";
    static constexpr bool labels = false;
    scalar threshold = 0.5;
    [[gnu::noinline]] auto hyperparameters() const {
        return std::to_array<hyperparameter>(
            {{"threshold", threshold.value, hyperparameter::fraction}});
    }

    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        return detail::count_decisions(logits, target, threshold);
    }
    double result(std::span<double const> sums, double) const {
        return detail::decision_counts{sums}.f_score(1);
    }
};
inline constexpr f1_metric f1{};

struct macro_precision_metric {
    static constexpr char const* name = "macro_precision";
    static constexpr bool labels = true;

    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> prediction, symbol<shape<>> label) const {
        return detail::count_decisions(prediction, label);
    }
    double result(std::span<double const> sums, double) const {
        return detail::mean_of_classes(
            sums, [](detail::decision_counts const& c) { return c.precision(); });
    }
};
inline constexpr macro_precision_metric macro_precision{};

struct macro_recall_metric {
    static constexpr char const* name = "macro_recall";
    static constexpr bool labels = true;

    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> prediction, symbol<shape<>> label) const {
        return detail::count_decisions(prediction, label);
    }
    double result(std::span<double const> sums, double) const {
        return detail::mean_of_classes(sums,
                                       [](detail::decision_counts const& c) { return c.recall(); });
    }
};
inline constexpr macro_recall_metric macro_recall{};

struct macro_f1_metric {
    static constexpr char const* name = "macro_f1";
    static constexpr bool labels = true;

    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> prediction, symbol<shape<>> label) const {
        return detail::count_decisions(prediction, label);
    }
    double result(std::span<double const> sums, double) const {
        return detail::mean_of_classes(
            sums, [](detail::decision_counts const& c) { return c.f_score(1); });
    }
};
inline constexpr macro_f1_metric macro_f1{};

} // namespace castnet
