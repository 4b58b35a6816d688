// Scores of a step: its loss, the losses of which that is a sum, and its metrics, with their names.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/nn/metrics.hpp>
#include <castnet/train/scores.hpp>
#include <castnet/train/step_symbols.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace castnet::detail {

// The name of a loss or metric of an output, "box_mae" or "output_1_mae".
template <class Outputs, size_t Number, class Score>
struct score_of_output {
    template <class Put>
    static constexpr void spell(Put put) {
        auto const write = [&](std::string_view text) {
            for (char c : text) {
                put(c);
            }
        };
        if (Outputs::name(Number).empty()) {
            write("output_");
            if (Number >= 10) {
                put(char('0' + Number / 10 % 10));
            }
            put(char('0' + Number % 10));
        } else {
            write(Outputs::name(Number));
        }
        put('_');
        write(Score::name);
    }
    static constexpr size_t length = [] {
        size_t count = 0;
        spell([&](char) { ++count; });
        return count;
    }();
    static constexpr auto text = [] {
        char spelt[length + 1]{};
        char* end = spelt;
        spell([&](char c) { *end++ = c; });
        return fixed_string{spelt};
    }();
    static constexpr char const* name = text.text;
};
struct loss_score {
    static constexpr char const* name = "loss";
};

// A metric's column of the scores.
template <class Network, class Loss, class Metric>
struct score_of {
    using symbols = step_symbols<outputs_of<Network>, targets_of_step<Loss, outputs_of<Network>>>;
    static constexpr size_t sums = decltype(step_metric(
        std::type_identity<Metric>{}, std::declval<symbols const&>()))::shape_type::count;

    template <class M>
    static constexpr auto choose(std::type_identity<M>) {
        return std::type_identity<score<M, sums>>{};
    }
    template <size_t Number, class M>
    static constexpr auto choose(std::type_identity<output_metric<Number, M>>) {
        using named = score_of_output<traced_outputs<Network>, Number, M>;
        return std::type_identity<score<M, sums, named>>{};
    }
    using type = typename decltype(choose(std::type_identity<Metric>{}))::type;
};

template <class Metric>
constexpr Metric unwrapped(Metric const& metric) {
    return metric;
}
template <size_t Output, class Metric>
constexpr Metric unwrapped(output_metric<Output, Metric> const& metric) {
    return metric.metric;
}

template <class... Score>
constexpr auto list_unique(Score const&... score) {
    constexpr auto repeated = repeated_column<Score...>();
    static_assert(column_is_unique<repeated>::checked);
    if constexpr (repeated.view().empty()) {
        return score_list<Score...>{score...};
    } else {
        return score_list<>{};
    }
}

// The scores of a step after its loss: the losses of which it is a sum, and the metrics.
template <class Network, class Loss, size_t... I, class... Metrics>
constexpr auto list_scores(std::index_sequence<I...>, Metrics const&... metrics) {
    return list_unique(
        score<loss_score, 1, score_of_output<traced_outputs<Network>, I, loss_score>>{}...,
        typename score_of<Network, Loss, Metrics>::type{unwrapped(metrics)}...);
}
template <class Loss>
inline constexpr size_t parts_of = 0;
template <class... Loss>
inline constexpr size_t parts_of<loss_list<Loss...>> = sizeof...(Loss);

template <class Network, class Loss, class... Metrics>
constexpr auto metrics_of_step(Metrics const&... metrics) {
    return list_scores<Network, Loss>(std::make_index_sequence<parts_of<Loss>>{}, metrics...);
}
template <class... Score>
scores<Score...> scores_with(score_list<Score...> const&);
template <class Network, class Loss, class... Metrics>
using scores_of_step =
    decltype(scores_with(metrics_of_step<Network, Loss>(std::declval<Metrics const&>()...)));

} // namespace castnet::detail
