// Metrics: expressions of a prediction and its target, like losses. Every loss is a metric, too. If
// a network has several outputs, a metric compares the first with its target, on_output<n, metric>
// another one (nn/output_losses.hpp); one that takes more is called with all outputs and then all
// targets, like a loss.
//
// A metric gives a number for each sample, of which the weighted mean is reported; or several, a
// vector, and says what becomes of their sums over the samples, each times the sample's weight:
//     double result(std::span<double const> sums, double weight) const;
// where `weight` is the sum of the weights, which is more than 0. So what is no mean of samples,
// such as a ratio of counts, is that of all samples, however they are dealt out to steps and
// replicas. Its numbers are template arguments, or scalars that the program gives
// (graph/scalar.hpp).
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/nn/classification_losses.hpp>
#include <castnet/nn/reshape.hpp>

#include <cmath>
#include <span>

namespace castnet {

template <class T>
concept Metric = Loss<T> && requires {
    { T::name } -> std::convertible_to<char const*>;
};

namespace detail {

// The sum of a value over the steps or pixels that count, and their number.
template <class S, class Labels>
constexpr auto counted_sums(symbol<S> value, symbol<Labels> label) {
    return stack(sum_of_counted(value, label), sum(counts(label)));
}

// A mean over all samples of such sums, or of single values; 0 of none.
constexpr double mean_of_sums(std::span<double const> sums, double weight) {
    double const count = sums.size() > 1 ? sums[1] : weight;
    return count > 0 ? sums[0] / count : 0;
}

} // namespace detail

// Whether the output for the label is larger than all others; ties and NaN count as wrong. Of
// several steps or pixels, all that count in all samples count alike.
struct accuracy_metric {
    static constexpr bool labels = true;
    static constexpr char const* name = "accuracy";
    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> prediction, symbol<shape<>> label) const {
        return equal(strict_argmax(prediction), label);
    }
    template <Shape S, LabelsOf<S> Labels>
    constexpr auto operator()(symbol<S> prediction, symbol<Labels> numbers) const {
        auto const label = detail::beside<S>(numbers);
        return detail::counted_sums(equal(strict_argmax(prediction), label), label);
    }
    constexpr double result(std::span<double const> sums, double weight) const {
        return detail::mean_of_sums(sums, weight);
    }
};
inline constexpr accuracy_metric accuracy{};

// exp of the mean cross-entropy, over all steps that count in all samples: how many classes a
// guess of the same cross-entropy has to choose from (torchmetrics' Perplexity).
struct perplexity_metric {
    static constexpr bool labels = true;
    static constexpr char const* name = "perplexity";
    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> logits, symbol<shape<>> label) const {
        return cross_entropy(logits, label);
    }
    template <Shape S, LabelsOf<S> Labels>
    constexpr auto operator()(symbol<S> logits, symbol<Labels> numbers) const {
        return detail::counted_sums(cross_entropy.beside_each(logits, numbers),
                                    detail::beside<S>(numbers));
    }
    double result(std::span<double const> sums, double weight) const {
        return std::exp(detail::mean_of_sums(sums, weight));
    }
};
inline constexpr perplexity_metric perplexity{};

// How often the largest output is where the largest of one-hot or probability targets is, of which
// the first counts at a tie; of several steps or pixels, in how many of them.
struct categorical_accuracy_metric {
    static constexpr bool labels = false;
    static constexpr char const* name = "categorical_accuracy";
    template <Shape S>
    constexpr auto operator()(symbol<S> prediction, symbol<S> target) const {
        return detail::mean_of_each(equal(strict_argmax(prediction), argmax_channels(target)));
    }
};
inline constexpr categorical_accuracy_metric categorical_accuracy{};

// Whether a logit is positive if the target is more than 0.5, and negative otherwise; the mean over
// the sample's elements. A logit of 0 or NaN counts as wrong.
struct binary_accuracy_metric {
    static constexpr bool labels = false;
    static constexpr char const* name = "binary_accuracy";
    template <Shape S>
    constexpr auto operator()(symbol<S> logits, symbol<S> target) const {
        detail::takes_logits(logits);
        return mean(where(greater(target, 0.5), greater(logits, 0), less(logits, 0)));
    }
};
inline constexpr binary_accuracy_metric binary_accuracy{};

template <size_t K, size_t Classes>
inline constexpr bool k_within_classes = K > 0 && K <= Classes;

// Whether the output for the label is among the K largest; an output that equals it or is NaN
// counts as larger. Of several steps or pixels, all that count in all samples count alike. Its name
// contains K: "top_5".
template <size_t K>
struct top_k_metric {
    static constexpr bool labels = true;
    static constexpr auto name_text = detail::numbered<"top_", K>();
    static constexpr char const* name = name_text.text;
    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> prediction, symbol<shape<>> label) const {
        return of_each<Classes>(prediction, label);
    }
    template <Shape S, LabelsOf<S> Labels>
    constexpr auto operator()(symbol<S> prediction, symbol<Labels> numbers) const {
        auto const label = detail::beside<S>(numbers);
        return detail::counted_sums(of_each<channels_of<S>>(prediction, label), label);
    }
    constexpr double result(std::span<double const> sums, double weight) const {
        return detail::mean_of_sums(sums, weight);
    }

private:
    template <size_t Classes, Shape S, Shape Label>
    static constexpr auto of_each(symbol<S> prediction, symbol<Label> label) {
        static_assert(k_within_classes<K, Classes>,
                      "castnet: top_k: K is 0 or larger than the number of classes; see "
                      "k_within_classes<K, classes>");
        auto const hit = equal(detail::channel_numbers<S>(*prediction.g), label);
        auto const below = sum_channels(less(prediction, sum_channels(where(hit, prediction, 0))));
        return greater_equal(below, double(Classes) - double(K));
    }
};
template <size_t K>
inline constexpr top_k_metric<K> top_k{};

// A loss or metric in which a class number, too, says that a step or pixel does not count, such as
// the number of a padding (PyTorch's ignore_index): ignore_index<0, cross_entropy>, or
// ignore_index<0>(loss) of one with numbers.
template <int Index, class Scored>
struct ignoring : Scored {
    static constexpr int ignored_index = Index;
    template <Shape S, LabelsOf<S> Labels>
    constexpr auto operator()(symbol<S> prediction, symbol<Labels> numbers) const {
        auto const others = where(equal(numbers, Index), data::ignored, numbers);
        return static_cast<Scored const&>(*this)(prediction, symbol<Labels>{others.g, others.id});
    }
};
template <int Index>
struct ignoring_of {
    template <class Scored>
    constexpr ignoring<Index, Scored> operator()(Scored const& scored) const {
        return {scored};
    }
};
template <int Index, auto... Scored>
inline constexpr ignoring_of<Index> ignore_index{};
template <int Index, auto Scored>
inline constexpr auto ignore_index<Index, Scored> = ignoring_of<Index>{}(Scored);

static_assert(Metric<accuracy_metric> && Metric<perplexity_metric> &&
              Metric<categorical_accuracy_metric> && Metric<binary_accuracy_metric> &&
              Metric<top_k_metric<5>>);

} // namespace castnet
