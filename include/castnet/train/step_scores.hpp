// Loss and metrics of a step: their targets, symbols and names.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/data/targets.hpp>
#include <castnet/nn/metrics.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/output_losses.hpp>
#include <castnet/train/scores.hpp>

#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>

namespace castnet {

template <class Loss>
inline constexpr bool has_labels = requires { bool{Loss::labels}; } || requires {
    typename Loss::target_shape;
} || requires { typename Loss::targets; };
template <class Function, class... Arguments>
using given_by = decltype(std::declval<Function const&>()(std::declval<Arguments>()...));
template <class Function, class... Arguments>
inline constexpr bool callable_with = requires { typename given_by<Function, Arguments...>; };

// Checks as classes, so that every compiler prints their arguments. What fails one is replaced by a
// stub that compiles, so that one mistake gives one error.
template <class Loss>
struct loss_has_labels {
    static_assert(has_labels<Loss>,
                  "castnet: a loss needs static constexpr bool labels: true where its target is "
                  "a class number, false where it has the shape of the prediction; see "
                  "loss_has_labels<loss>");
    static constexpr bool checked = true;
};
template <size_t Losses, size_t Outputs>
struct loss_for_each_output {
    static_assert(Losses == Outputs, "castnet: cn::losses needs one loss for each output of the "
                                     "network; see loss_for_each_output<losses, outputs>");
    static constexpr bool checked = true;
};
template <class Loss, class... Arguments>
struct loss_takes {
    static_assert(callable_with<Loss, Arguments...>,
                  "castnet: the loss cannot be called with the outputs of the network and the "
                  "targets; a network with several outputs needs cn::losses<...>, with a loss for "
                  "each, or a loss that takes all; see loss_takes<loss, outputs..., targets...>");
    static constexpr bool checked = true;
};
template <size_t Number, size_t Outputs, size_t Targets>
struct metric_has_output {
    static_assert(Number < Outputs && (Number < Targets || Targets == 1),
                  "castnet: cn::on_output names an output that the network does not have, or that "
                  "has no target; see metric_has_output<number, outputs, targets>");
    static constexpr bool checked = true;
};
template <class Metric, class Output, class Target>
struct metric_takes {
    static_assert(callable_with<Metric, Output, Target>,
                  "castnet: a metric cannot be called with its output and the target; see "
                  "metric_takes<metric, output, target>");
    static constexpr bool checked = true;
};

// Whether a metric has a result, which is made of the sums of what it gives for the samples.
template <class Metric>
concept MakesResult = requires(Metric const& metric, std::span<double const> sums) {
    { metric.result(sums, 1.0) } -> std::convertible_to<double>;
};
// Whether a metric gives numbers that are summed up: one for each sample, or several if it makes a
// result of them.
template <class Metric, class Given>
inline constexpr bool gives_sums = false;
template <class Metric>
inline constexpr bool gives_sums<Metric, symbol<shape<>>> =
    MakesResult<Metric> || !requires { &Metric::result; };
template <class Metric, size_t Count>
inline constexpr bool gives_sums<Metric, symbol<shape<Count>>> = MakesResult<Metric>;

template <class Metric, class Given>
struct metric_gives_sums {
    static_assert(
        gives_sums<Metric, Given>,
        "castnet: a metric gives one number for each sample, symbol<shape<>>, or several, "
        "symbol<shape<n>>, of whose sums its result(sums, weight) makes one; see "
        "metric_gives_sums<metric, given>");
    static constexpr bool checked = true;
};

namespace detail {

template <size_t N, class List>
struct nth;
template <size_t N, class First, class... Rest>
struct nth<N, type_list<First, Rest...>> : nth<N - 1, type_list<Rest...>> {};
template <class First, class... Rest>
struct nth<0, type_list<First, Rest...>> {
    using type = First;
};
template <size_t N, class List>
using nth_of = typename nth<N, List>::type;

template <class Network>
using traced_outputs = decltype(Network::trace(std::declval<ir::graph&>()));
template <class Network>
using outputs_of = typename traced_outputs<Network>::shapes;

// The labels of an output: a class number for a vector, for each step of a sequence (time, classes)
// or for each pixel of an image (classes, height, width).
template <class S, size_t... Axis>
constexpr auto labels_of(std::index_sequence<Axis...>) {
    constexpr size_t skipped = is_image<S> ? 1 : 0;
    return data::label<channels_of<S>, S::extent[Axis + skipped]...>{};
}
template <class S>
constexpr auto labels_of() {
    return labels_of<S>(std::make_index_sequence<(S::rank > 1 ? S::rank - 1 : 0)>{});
}

// The target that a loss compares with an output of shape S.
template <class Loss, class S>
struct target_of {
    static constexpr auto choose() {
        if constexpr (requires { typename Loss::targets; }) {
            return typename Loss::targets::template at<0>{};
        } else if constexpr (requires { typename Loss::target_shape; }) {
            return typename Loss::target_shape{};
        } else if constexpr (!has_labels<Loss>) {
            static_assert(loss_has_labels<Loss>::checked);
            return S{};
        } else if constexpr (Loss::labels) {
            return labels_of<S>();
        } else {
            return S{};
        }
    }
    using target = decltype(choose());
    using type = data::target_shape<target>;
};

// The targets of a step. (Functions of types.)
template <class Loss, class Outputs>
constexpr auto all_targets(std::type_identity<Loss>, Outputs) {
    if constexpr (requires { typename Loss::targets; }) {
        return typename Loss::targets{};
    } else {
        return data::targets<typename target_of<Loss, nth_of<0, Outputs>>::target>{};
    }
}
template <class... Loss, class... S>
constexpr auto all_targets(std::type_identity<loss_list<Loss...>>, type_list<S...>) {
    if constexpr (sizeof...(Loss) != sizeof...(S)) {
        static_assert(loss_for_each_output<sizeof...(Loss), sizeof...(S)>::checked);
        return data::targets<S...>{};
    } else {
        return data::targets<typename target_of<Loss, S>::target...>{};
    }
}
template <class Loss, class Outputs>
using targets_of_step = decltype(all_targets(std::type_identity<Loss>{}, Outputs{}));

// A network's outputs and the targets of a step while it is traced.
template <class Outputs, class Targets>
class step_symbols;
template <class... S, class... Target>
class step_symbols<type_list<S...>, data::targets<Target...>> {
public:
    static constexpr size_t outputs = sizeof...(S), targets = sizeof...(Target);
    template <size_t I>
    using output_type = symbol<nth_of<I, type_list<S...>>>;
    template <size_t I>
    using target_type = symbol<nth_of<I, type_list<data::target_shape<Target>...>>>;

    constexpr step_symbols(ir::graph& g, int const* output_ids)
        : g_{&g}, outputs_{output_ids},
          targets_{g.push(ir::graph::shaped<data::target_shape<Target>>(op::target, true))...} {}

    template <size_t I>
    constexpr output_type<I> output() const {
        return {g_, outputs_[I]};
    }
    template <size_t I>
    constexpr target_type<I> target() const {
        return {g_, targets_[I]};
    }
    constexpr ir::graph& graph() const { return *g_; }

    // Stub for a loss or metric that failed a check.
    constexpr symbol<shape<>> any() const { return any(std::index_sequence_for<S...>{}); }

private:
    template <size_t... I>
    constexpr symbol<shape<>> any(std::index_sequence<I...>) const {
        return (mean(output<I>()) + ...);
    }

    ir::graph* g_;
    int const* outputs_;
    int targets_[targets];
};

template <class Loss, class Symbols, size_t... Output, size_t... Target>
constexpr symbol<shape<>> call_loss(Symbols const& s, std::index_sequence<Output...>,
                                    std::index_sequence<Target...>) {
    if constexpr (!has_labels<Loss>) { // already reported
        return s.any();
    } else if constexpr (!callable_with<Loss, typename Symbols::template output_type<Output>...,
                                        typename Symbols::template target_type<Target>...>) {
        static_assert(loss_takes<Loss, typename Symbols::template output_type<Output>...,
                                 typename Symbols::template target_type<Target>...>::checked);
        return s.any();
    } else {
        return in_trace<Loss>(s.graph())(s.template output<Output>()...,
                                         s.template target<Target>()...);
    }
}

// The loss of a step, and the losses of which it is a sum.
template <class Loss, class Symbols>
constexpr symbol<shape<>> step_loss(std::type_identity<Loss>, Symbols const& s,
                                    ir::list<symbol<shape<>>>&) {
    return call_loss<Loss>(s, std::make_index_sequence<Symbols::outputs>{},
                           std::make_index_sequence<Symbols::targets>{});
}

template <class Loss>
struct one_of_losses {
    static constexpr double weight = 1;
    using unweighted = Loss;
};
template <float Weight, class Loss>
struct one_of_losses<weighted_loss<Weight, Loss>> {
    static constexpr double weight = double{Weight};
    using unweighted = Loss;
};

template <class... Loss, class Symbols, size_t... I>
constexpr symbol<shape<>> sum_of_losses(Symbols const& s, ir::list<symbol<shape<>>>& parts,
                                        std::index_sequence<I...>) {
    (parts.push(call_loss<typename one_of_losses<Loss>::unweighted>(s, std::index_sequence<I>{},
                                                                    std::index_sequence<I>{})),
     ...);
    double const weights[] = {one_of_losses<Loss>::weight...};
    symbol<shape<>> sum;
    for (int i = 0; i < parts.size(); ++i) {
        symbol<shape<>> const term = weights[i] == 1 ? parts[i] : parts[i] * weights[i];
        sum = i == 0 ? term : sum + term;
    }
    return sum;
}
template <class... Loss, class Symbols>
constexpr symbol<shape<>> step_loss(std::type_identity<loss_list<Loss...>>, Symbols const& s,
                                    ir::list<symbol<shape<>>>& parts) {
    if constexpr (sizeof...(Loss) == Symbols::outputs) {
        return sum_of_losses<Loss...>(s, parts, std::index_sequence_for<Loss...>{});
    } else {
        return s.any();
    }
}

template <class Metric, size_t Output, size_t Target, class Symbols>
constexpr auto call_metric(Symbols const& s) {
    using output = typename Symbols::template output_type<Output>;
    using target = typename Symbols::template target_type<Target>;
    if constexpr (!callable_with<Metric, output, target>) {
        static_assert(metric_takes<Metric, output, target>::checked);
        return s.any();
    } else {
        auto const given =
            in_trace<Metric>(s.graph())(s.template output<Output>(), s.template target<Target>());
        using given_type = std::remove_const_t<decltype(given)>;
        if constexpr (gives_sums<Metric, given_type>) {
            return given;
        } else {
            static_assert(metric_gives_sums<Metric, given_type>::checked);
            return s.any();
        }
    }
}
template <class Metric, class Symbols>
constexpr auto step_metric(std::type_identity<Metric>, Symbols const& s) {
    return call_metric<Metric, 0, 0>(s);
}
template <size_t Output, class Metric, class Symbols>
constexpr auto step_metric(std::type_identity<output_metric<Output, Metric>>, Symbols const& s) {
    constexpr size_t outputs = Symbols::outputs, targets = Symbols::targets;
    constexpr size_t target = targets == 1 ? 0 : Output;
    if constexpr (Output >= outputs || target >= targets) {
        static_assert(metric_has_output<Output, outputs, targets>::checked);
        return s.any();
    } else {
        return call_metric<Metric, Output, target>(s);
    }
}

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

// The scores of a step behind its loss: the losses of which it is a sum, and the metrics.
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

} // namespace detail
} // namespace castnet
