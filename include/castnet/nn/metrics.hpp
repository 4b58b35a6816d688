// Metrics: expressions like losses, one number per sample; reported is their weighted mean.
// Every loss is a metric too. A metric sees the first output of a network that has several and its
// target, on_output<n, metric> another one (nn/output_losses.hpp).
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/nn/losses.hpp>

namespace castnet {

template <class T>
concept Metric = Loss<T> && requires {
    { T::name } -> std::convertible_to<char const*>;
};

namespace detail {

// A text with a number behind it, as long as the program runs.
template <fixed_string Text, size_t Number>
constexpr auto numbered() {
    constexpr size_t digits = [] {
        size_t count = 1;
        for (size_t rest = Number; rest >= 10; rest /= 10) {
            ++count;
        }
        return count;
    }();
    constexpr size_t length = Text.view().size();
    char text[length + digits + 1]{};
    for (size_t i = 0; i < length; ++i) {
        text[i] = Text.text[i];
    }
    size_t rest = Number;
    for (size_t i = length + digits; i-- > length; rest /= 10) {
        text[i] = static_cast<char>('0' + rest % 10);
    }
    return fixed_string{text};
}

} // namespace detail

// Whether the output of the label is larger than all others: a tie is wrong, and so is NaN.
struct accuracy_metric {
    static constexpr bool labels = true;
    static constexpr char const* name = "accuracy";
    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> prediction, symbol<shape<>> label) const {
        return equal(strict_argmax(prediction), label);
    }
};
inline constexpr accuracy_metric accuracy{};

// The same where the target is one-hot, or holds probabilities: the first of the largest counts.
struct categorical_accuracy_metric {
    static constexpr bool labels = false;
    static constexpr char const* name = "categorical_accuracy";
    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> prediction,
                              symbol<shape<Classes>> target) const {
        return accuracy(prediction, argmax(target));
    }
};
inline constexpr categorical_accuracy_metric categorical_accuracy{};

// Whether a logit is positive where the target is more than 0.5 and negative where it is not, the
// mean over the sample's elements: a logit of 0 is wrong, and so is NaN.
struct binary_accuracy_metric {
    static constexpr bool labels = false;
    static constexpr char const* name = "binary_accuracy";
    template <Shape S>
    constexpr auto operator()(symbol<S> logit, symbol<S> target) const {
        detail::takes_logits(logit);
        return mean(where(greater(target, 0.5), greater(logit, 0), less(logit, 0)));
    }
};
inline constexpr binary_accuracy_metric binary_accuracy{};

template <size_t K, size_t Classes>
inline constexpr bool k_within_classes = K > 0 && K <= Classes;

// Whether the output of the label is among the K largest, where an output that equals it or is NaN
// counts as larger. It is called after its K: "top_5".
template <size_t K>
struct top_k_metric {
    static constexpr bool labels = true;
    static constexpr auto name_text = detail::numbered<"top_", K>();
    static constexpr char const* name = name_text.text;
    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> prediction, symbol<shape<>> label) const {
        static_assert(k_within_classes<K, Classes>,
                      "castnet: top_k: K is 0 or larger than the number of classes; see "
                      "k_within_classes<K, classes>");
        auto const hit = equal(channel_index<shape<Classes>>(*prediction.g), label);
        auto const below = sum(less(prediction, sum(where(hit, prediction, 0))));
        return greater_equal(below, double(Classes) - double(K));
    }
};
template <size_t K>
inline constexpr top_k_metric<K> top_k{};

} // namespace castnet
