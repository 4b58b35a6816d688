// Loss and metrics of a step while it is traced: their values from the network's outputs and the
// targets.
#pragma once

#include <castnet/nn/metrics.hpp>
#include <castnet/train/step_targets.hpp>

#include <array>
#include <concepts>
#include <span>
#include <type_traits>
#include <utility>

namespace castnet {

template <class Function, class... Arguments>
using given_by = decltype(std::declval<Function const&>()(std::declval<Arguments>()...));
template <class Function, class... Arguments>
inline constexpr bool callable_with = requires { typename given_by<Function, Arguments...>; };

// Checks as classes, so that every compiler prints their arguments. What fails one is replaced by a
// stub that compiles, so that one mistake gives one error.
template <class Loss, class... Arguments>
struct loss_takes {
    static_assert(callable_with<Loss, Arguments...>,
                  "castnet: the loss cannot be called with the outputs of the network and the "
                  "targets; a network with several outputs needs cn::losses<...>, with a loss for "
                  "each, or a loss that takes all; or an error within it stands above; see "
                  "loss_takes<loss, outputs..., targets...>");
    static constexpr bool checked = true;
};
template <size_t Number, size_t Outputs, size_t Targets>
struct metric_has_output {
    static_assert(Number < Outputs && (Number < Targets || Targets == 1),
                  "castnet: cn::on_output names an output that the network does not have, or that "
                  "has no target; see metric_has_output<number, outputs, targets>");
    static constexpr bool checked = true;
};
template <class Metric, class... Arguments>
struct metric_takes {
    static_assert(callable_with<Metric, Arguments...>,
                  "castnet: a metric cannot be called with its output and the target, nor with all "
                  "outputs and then all targets; see metric_takes<metric, output, target>");
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
        "castnet: a metric must give one number for each sample, symbol<shape<>>, or several, "
        "symbol<shape<n>>, of whose sums its result(sums, weight) makes one; see "
        "metric_gives_sums<metric, given>");
    static constexpr bool checked = true;
};

namespace detail {

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

    // Whether a metric takes all of them and not only the first.
    template <class Metric>
    static constexpr bool needs_all = [] {
        if constexpr (targets == 0) {
            return true;
        } else {
            return !callable_with<Metric, output_type<0>, target_type<0>> &&
                   callable_with<Metric, symbol<S>..., symbol<data::target_shape<Target>>...>;
        }
    }();

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
    std::array<int, targets> targets_;
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
template <double Weight, class Loss>
struct one_of_losses<weighted_loss<Weight, Loss>> {
    static constexpr double weight = Weight;
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

template <class Metric, class Symbols, size_t... Output, size_t... Target>
constexpr auto call_metric(Symbols const& s, std::index_sequence<Output...>,
                           std::index_sequence<Target...>) {
    if constexpr (!callable_with<Metric, typename Symbols::template output_type<Output>...,
                                 typename Symbols::template target_type<Target>...>) {
        static_assert(metric_takes<Metric, typename Symbols::template output_type<Output>...,
                                   typename Symbols::template target_type<Target>...>::checked);
        return s.any();
    } else {
        auto const given = in_trace<Metric>(s.graph())(s.template output<Output>()...,
                                                       s.template target<Target>()...);
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
    constexpr bool all = Symbols::template needs_all<Metric>;
    return call_metric<Metric>(s, std::make_index_sequence<all ? Symbols::outputs : 1>{},
                               std::make_index_sequence<all ? Symbols::targets : 1>{});
}
template <size_t Output, class Metric, class Symbols>
constexpr auto step_metric(std::type_identity<output_metric<Output, Metric>>, Symbols const& s) {
    constexpr size_t outputs = Symbols::outputs, targets = Symbols::targets;
    constexpr size_t target = targets == 1 ? 0 : Output;
    if constexpr (Output >= outputs || target >= targets) {
        static_assert(metric_has_output<Output, outputs, targets>::checked);
        return s.any();
    } else {
        return call_metric<Metric>(s, std::index_sequence<Output>{}, std::index_sequence<target>{});
    }
}

} // namespace detail
} // namespace castnet
