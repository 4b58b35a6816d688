// Checks of the arguments of compile(model, loss, optimizer, metrics…).
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/finite.hpp>
#include <castnet/core/in_braces.hpp>
#include <castnet/graph/differentiate.hpp>
#include <castnet/nn/metrics.hpp>
#include <castnet/optim/wrapped.hpp>
#include <castnet/policy/strategy.hpp>
#include <castnet/train/compiled_step.hpp>
#include <castnet/train/fit_options.hpp>
#include <castnet/train/model_arguments.hpp>
#include <castnet/train/scores.hpp>

#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace castnet {

namespace detail {

enum class compile_mistake : unsigned char {
    none,
    in_model, // already reported
    model_is_none,
    model_is_const,
    text,
    optimizer_as_loss,
    loss_as_optimizer,
    optimizer_as_metric,
    optimizer_lacks_members,
    optimizer_of_shards,
    optimizer_of_cpus,
    lazy_of_whole_parameters,
    loss_lacks_labels,
    loss_takes_others,
    loss_gives_others,
    loss_has_no_gradient,
    metric_lacks_members,
    metric_compares_others,
    metric_takes_others,
    metric_gives_others,
    metric_result_takes_others,
};

template <class T>
inline constexpr bool is_text = std::is_convertible_v<T, std::string_view>;

template <class T>
inline constexpr bool is_model = false;
template <class Net, class Where, class Samples>
inline constexpr bool is_model<model<Net, Where, Samples>> = true;

// A formula of symbols: a class with a call operator, which may be a template.
struct any_call {
    void operator()();
};
template <class T>
struct with_any_call : T, any_call {};
template <class T>
constexpr bool is_formula() {
    if constexpr (std::is_class_v<T> && !std::is_final_v<T>) {
        return !requires { &with_any_call<T>::operator(); }; // ambiguous
    } else {
        return false;
    }
}

// Whether any argument of a loss has a gradient.
template <class Loss, class Target, class... S, size_t... I>
constexpr bool has_gradient(std::index_sequence<I...>) {
    ir::graph g{true};
    int const outputs[] = {new_input<S>(g).id...}; // braces: in the order of the list
    symbol<Target> const target = new_input<Target>(g);
    auto const loss = in_trace<Loss>(g)(symbol<S>{&g, outputs[I]}..., target);
    ir::differentiation d{g, true};
    d.run(loss.id, constant_node(g, 1));
    for (int output : outputs) {
        if (d.by(output) >= 0) {
            return true;
        }
    }
    return false;
}

// Losses and metrics that are formulas of outputs and one target are called here; the parts of
// others are checked where they are used.
template <class Loss, class... S>
constexpr compile_mistake mistake_in_loss(type_list<S...> outputs) {
    if constexpr (is_text<Loss>) {
        return compile_mistake::text;
    } else if constexpr (Optimizer<Loss>) {
        return compile_mistake::optimizer_as_loss;
    } else if constexpr (!is_formula<Loss>() || ListsTargets<Loss>) {
        return compile_mistake::none;
    } else if constexpr (!castnet::Loss<Loss>) {
        return compile_mistake::loss_lacks_labels;
    } else {
        using target = typename target_of<Loss, nth_of<0, decltype(outputs)>>::type;
        if constexpr (!callable_with<Loss, symbol<S>..., symbol<target>>) {
            return compile_mistake::loss_takes_others;
        } else if constexpr (!std::is_same_v<given_by<Loss, symbol<S>..., symbol<target>>,
                                             symbol<shape<>>>) {
            return compile_mistake::loss_gives_others;
        } else if constexpr (requires {
                                 typename std::enable_if_t<!has_gradient<Loss, target, S...>(
                                     std::index_sequence_for<S...>{})>;
                             }) {
            return compile_mistake::loss_has_no_gradient;
        } else {
            return compile_mistake::none; // or cannot be computed: see compiler_can_trace
        }
    }
}

// Of optimizers that do not treat all numbers alike.
template <class Model, class Optimizer>
constexpr compile_mistake mistake_in_rule() {
    using all = rule_of<Optimizer, typename Model::value_type>;
    constexpr bool whole = ByParameter<all>, lazy = is_lazy<Optimizer>;
    constexpr bool on_host = requires { requires Model::device::executor::in_host_memory; };
    if constexpr (whole && lazy) {
        return compile_mistake::lazy_of_whole_parameters;
    } else if constexpr ((whole || lazy) &&
                         strategy_of<typename Model::policy_type>::sharded_optimizer) {
        return compile_mistake::optimizer_of_shards;
    } else {
        return lazy && !on_host ? compile_mistake::optimizer_of_cpus : compile_mistake::none;
    }
}

template <class Model, class Optimizer>
constexpr compile_mistake mistake_in_optimizer() {
    if constexpr (is_text<Optimizer>) {
        return compile_mistake::text;
    } else if constexpr (castnet::Loss<Optimizer>) {
        return compile_mistake::loss_as_optimizer;
    } else if constexpr (!castnet::Optimizer<Optimizer>) {
        return compile_mistake::optimizer_lacks_members;
    } else {
        return mistake_in_rule<Model, Optimizer>();
    }
}

template <class Metric, class Loss, class Output, class... More>
constexpr compile_mistake mistake_in_metric(type_list<Output, More...>) {
    if constexpr (is_text<Metric>) {
        return compile_mistake::text;
    } else if constexpr (Optimizer<Metric>) {
        return compile_mistake::optimizer_as_metric;
    } else if constexpr (is_formula<Metric>() && !castnet::Metric<Metric>) {
        return compile_mistake::metric_lacks_members;
    } else if constexpr (!is_formula<Metric>() || !castnet::Loss<Loss> || ListsTargets<Loss>) {
        return compile_mistake::none;
    } else {
        using target = symbol<typename target_of<Loss, Output>::type>;
        if constexpr (!std::is_same_v<symbol<typename target_of<Metric, Output>::type>, target>) {
            return compile_mistake::metric_compares_others;
        } else if constexpr (!callable_with<Metric, symbol<Output>, target>) {
            return callable_with<Metric, symbol<Output>, symbol<More>..., target>
                       ? compile_mistake::none // what it gives is checked where it is used
                       : compile_mistake::metric_takes_others;
        } else if constexpr (requires { &Metric::result; } && !MakesResult<Metric>) {
            return compile_mistake::metric_result_takes_others;
        } else {
            using given = given_by<Metric, symbol<Output>, target>;
            return gives_sums<Metric, given> ? compile_mistake::none
                                             : compile_mistake::metric_gives_others;
        }
    }
}

// Throws castnet::error where a number of the loss or a metric is not finite.
[[gnu::noinline]] inline void check_scalars(std::span<double const> all) {
    for (size_t i = 0; i < all.size(); ++i) {
        if (!is_finite(all[i])) {
            throw error({"castnet: compile: scalar ", i, " of loss and metrics is ", all[i],
                         ", expected a finite number"});
        }
    }
}

// The first one.
template <class Model, class Loss, class Optimizer, class... Metrics>
constexpr compile_mistake mistake_in_compile() {
    if constexpr (!is_model<Model>) {
        return is_model<std::remove_const_t<Model>> ? compile_mistake::model_is_const
                                                    : compile_mistake::model_is_none;
    } else if constexpr (!requires { typename Model::output_shapes; }) {
        return compile_mistake::in_model;
    } else {
        using outputs = typename Model::output_shapes;
        compile_mistake const all[] = {mistake_in_loss<Loss>(outputs{}),
                                       mistake_in_optimizer<Model, Optimizer>(),
                                       mistake_in_metric<Metrics, Loss>(outputs{})...};
        for (compile_mistake m : all) {
            if (m != compile_mistake::none) {
                return m;
            }
        }
        return compile_mistake::none;
    }
}

} // namespace detail

// A class, so that every compiler prints the types.
template <detail::compile_mistake found, class Loss, class Optimizer, class... Metrics>
struct arguments_of_compile {
    using compile_mistake = detail::compile_mistake;

    static_assert(found != compile_mistake::model_is_none,
                  "castnet: compile(model, loss, optimizer, metrics...): the first argument is not "
                  "a cn::model");
    static_assert(found != compile_mistake::model_is_const,
                  "castnet: compile(model, loss, optimizer, metrics...): the model is const, but "
                  "training changes it");
    static_assert(found != compile_mistake::text,
                  "castnet: compile(model, loss, optimizer, metrics...) takes objects, not names "
                  "in quotes: cn::compile(model, cn::mse, cn::adam{}, cn::mae)");
    static_assert(
        found != compile_mistake::optimizer_as_loss,
        "castnet: compile(model, loss, optimizer, metrics...): an optimizer is given where "
        "the loss belongs; the loss comes first");
    static_assert(found != compile_mistake::loss_as_optimizer,
                  "castnet: compile(model, loss, optimizer, metrics...): a loss or metric is given "
                  "where the optimizer belongs, such as cn::adam{}");
    static_assert(
        found != compile_mistake::optimizer_as_metric,
        "castnet: compile(model, loss, optimizer, metrics...): an optimizer is given where "
        "a metric belongs; there is one optimizer, after the loss");
    static_assert(found != compile_mistake::optimizer_lacks_members,
                  "castnet: compile(model, loss, optimizer, metrics...): the optimizer lacks a "
                  "member: name, slots, learning_rate or at<T>(step, rate); see the concept "
                  "Optimizer in castnet/optim/optimizer.hpp");
    static_assert(found != compile_mistake::optimizer_of_shards,
                  "castnet: compile(model, loss, optimizer, metrics...): with "
                  "strategy::sharded_optimizer no replica has a whole parameter, which this "
                  "optimizer (lamb, muon, clip_each_norm, lazy) needs; take another strategy, or "
                  "cn::adamw and cn::clip_norm");
    static_assert(
        found != compile_mistake::optimizer_of_cpus,
        "castnet: compile(model, loss, optimizer, metrics...): cn::lazy is for CPUs; take "
        "its optimizer alone on GPUs, which update all rows");
    static_assert(found != compile_mistake::lazy_of_whole_parameters,
                  "castnet: compile(model, loss, optimizer, metrics...): cn::lamb, cn::muon and "
                  "cn::clip_each_norm update whole parameters, and cn::lazy some of their rows: "
                  "take cn::lazy(cn::adam{}), or no cn::lazy");
    static_assert(found != compile_mistake::loss_lacks_labels,
                  "castnet: a loss needs static constexpr bool labels: true where its target is "
                  "a class number, false where it has the shape of the prediction");
    static_assert(found != compile_mistake::loss_takes_others,
                  "castnet: the loss cannot be called with the outputs of the network and a "
                  "target: a symbol for each output, then the target (a number where labels is "
                  "true, else of the first output's shape); cn::losses<...> takes a loss for each "
                  "output; or an error within it stands above: symbols take cn::exp, not std::exp");
    static_assert(found != compile_mistake::loss_gives_others,
                  "castnet: a loss must give one number for each sample, symbol<shape<>>: return "
                  "cn::mean(...) or cn::sum(...) of its elements");
    static_assert(found != compile_mistake::loss_has_no_gradient,
                  "castnet: compile(model, loss, optimizer, metrics...): the loss has no gradient; "
                  "cn::accuracy and the like are metrics, which come last: take a loss such as "
                  "cn::cross_entropy");
    static_assert(found != compile_mistake::metric_lacks_members,
                  "castnet: a metric needs static constexpr char const* name and static "
                  "constexpr bool labels: true where its target is a class number, false where "
                  "it has the shape of the prediction");
    static_assert(found != compile_mistake::metric_compares_others,
                  "castnet: a metric compares with class numbers and the loss with real numbers, "
                  "or the other way round: cn::accuracy and cn::top_k are for class numbers, "
                  "cn::categorical_accuracy for one-hot targets, cn::binary_accuracy for 0 and 1");
    static_assert(found != compile_mistake::metric_takes_others,
                  "castnet: a metric cannot be called with the first output of the network and "
                  "the target, nor with all outputs and the target");
    static_assert(
        found != compile_mistake::metric_gives_others,
        "castnet: a metric must give one number for each sample, symbol<shape<>>: return "
        "cn::mean(...) or cn::sum(...) of its elements; or several, symbol<shape<n>> such "
        "as cn::stack(a, b), of whose sums its result(sums, weight) makes one");
    static_assert(found != compile_mistake::metric_result_takes_others,
                  "castnet: a metric's result() does not make one number of its sums: double "
                  "result(std::span<double const> sums, double weight) const");
};

// Stub with the calls of a training, so that one compile_mistake gives one error.
struct no_training {
    using scores_type = scores<>;
    template <class Data>
    history fit(Data const&, fit_options<no_training> const& = {});
    scores_type evaluate(auto const&...);
    scores_type step(auto const&...);
    void keep(auto const&);
};

// The stub that compile() returns then.
template <class Arguments>
struct refused_training : no_training {
    static constexpr Arguments checked{};
};

} // namespace castnet
