// Metrics: expressions like losses, one number per sample; reported is their weighted mean.
// Every loss is a metric too. A metric sees the first output of a network that has several.
#pragma once

#include <castnet/nn/losses.hpp>

namespace castnet {

template <class T>
concept Metric = Loss<T> && requires {
    { T::name } -> std::convertible_to<char const*>;
};

// Whether the largest of the outputs is that of the label.
struct accuracy_metric {
    static constexpr bool labels = true;
    static constexpr char const* name = "accuracy";
    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> prediction, symbol<shape<>> label) const {
        return equal(argmax(prediction), label);
    }
};
inline constexpr accuracy_metric accuracy{};

// The same where the target is one-hot.
struct categorical_accuracy_metric {
    static constexpr bool labels = false;
    static constexpr char const* name = "accuracy";
    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> prediction,
                              symbol<shape<Classes>> target) const {
        return equal(argmax(prediction), argmax(target));
    }
};
inline constexpr categorical_accuracy_metric categorical_accuracy{};

// Whether a logit and a target of 0 or 1 agree, the mean over the sample's elements.
struct binary_accuracy_metric {
    static constexpr bool labels = false;
    static constexpr char const* name = "accuracy";
    template <Shape S>
    constexpr auto operator()(symbol<S> logit, symbol<S> target) const {
        return mean(equal(greater(logit, 0), greater(target, 0.5)));
    }
};
inline constexpr binary_accuracy_metric binary_accuracy{};

template <size_t K, size_t Classes>
inline constexpr bool k_within_classes = K <= Classes;

// Whether fewer than K outputs are larger than that of the label.
template <size_t K>
struct top_k_metric {
    static constexpr bool labels = true;
    static constexpr char const* name = "top_k";
    template <size_t Classes>
    constexpr auto operator()(symbol<shape<Classes>> prediction, symbol<shape<>> label) const {
        static_assert(k_within_classes<K, Classes>, "castnet: top_k: K is larger than the number "
                                                    "of classes; see k_within_classes<K, classes>");
        auto const hit = equal(channel_index<shape<Classes>>(*prediction.g), label);
        return less(sum(greater(prediction, sum(hit * prediction))), double(K));
    }
};
template <size_t K>
inline constexpr top_k_metric<K> top_k{};

} // namespace castnet
