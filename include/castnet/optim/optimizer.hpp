// Contract of optimizers.
//
// An optimizer is a struct of hyperparameters with
//   static constexpr char const* name
//   static constexpr int slots    numbers of state per parameter, zero at the start
//   rule<T> at(step, rate)        the constants of a step, computed once per step, from step 1 on
//   hyperparameters()             an array of their names, values and ranges (optional: compile()
//                                 checks them and compares them with those of a checkpoint)
//   static not_negative(slot)     whether the numbers of a slot cannot be negative (optional)
// and rule<T> is callable as rule(parameter&, gradient, state&…): the update of one T or, if the
// rule accepts them, of a compiler's vector of T (hence square_root). One kernel applies it to all
// parameters. Running means are updated with one_minus_beta, computed in double and rounded once:
// 1 - T(0.999) is off by 1e-5.
//
// A rule that depends on the whole gradient (clip_norm) also has
//   rule with_norm(double norm) const
// which returns the rule for a step whose gradient has this Euclidean norm over all trained
// parameters. It is called once per step, before any parameter is updated; on GPUs in a kernel, so
// the rule must be trivially copyable there. One with rules for groups of parameters (groups) has
//   Rule const& of_group(int number) const
// instead of the update, and the optimizer says how many there are, and which a parameter has:
//   static constexpr int group_count
//   int group_of(std::string_view name) const
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/optim/hyperparameters.hpp>

#include <concepts>
#include <cstdint>
#include <utility>

namespace castnet {

template <class T>
concept Optimizer = requires(T const& optimizer) {
    { T::name } -> std::convertible_to<char const*>;
    { T::slots } -> std::convertible_to<int>;
    { optimizer.learning_rate } -> std::convertible_to<double>;
    optimizer.template at<float>(std::uint64_t{1}, 0.1);
};

template <class Rule>
concept NeedsNorm = requires(Rule const& rule) { rule.with_norm(0.0); };

// The rule of a parameter's group.
template <class Rule>
CASTNET_HD auto const& rule_of_group(Rule const& rule, [[maybe_unused]] int number) {
    if constexpr (requires { rule.of_group(number); }) {
        return rule.of_group(number);
    } else {
        return rule;
    }
}

namespace detail {
template <class Optimizer, class T>
using rule_of = decltype(std::declval<Optimizer const&>().template at<T>(std::uint64_t{1}, 0.0));
}

} // namespace castnet
