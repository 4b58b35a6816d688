// Contract of optimizers.
//
// An optimizer is a struct of hyperparameters with
//   static constexpr char const* name
//   static constexpr int slots    numbers of state per parameter, zero at the start
//   rule<T> at(step, rate)        the constants of a step, computed once per step, from step 1 on
//   hyperparameters()             an array of their names, values and ranges (optional: compile()
//                                 checks them and compares them with those of a checkpoint;
//                                 core/hyperparameters.hpp)
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
// A rule by which a number stays as it is, and its state, where its gradient is 0 may say so; then
// rows of embeddings that a step did not use are passed over, as with lazy():
//   bool is_lazy() const
// A rule whose update of a number depends on its whole parameter (lamb, muon, clip_each_norm) says
//   static constexpr bool by_parameter = true
// and is a copy for each parameter. Instead of the update it may have two functions, both for
// numbers and for vectors:
//   V direction(V parameter, V gradient, state&…) const   where to; updates the state
//   void move(V& parameter, V direction, state&…) const
// And it may be told more (all optional):
//   void set_gradient_norm(double norm)   before all else; Euclidean
//   void begin(ptrdiff_t rows, ptrdiff_t columns)   first; of a weight as the matrix that
//   multiplies
//                                                   an input, its outputs by all else; else (0, 0)
//   void set_norms(double parameter, double direction)   between both; Euclidean norms
//   orthogonalization between() const               between both; see there
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/hyperparameters.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
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

// The direction of a weight, scaled to the norm 1, becomes nearly orthogonal by steps of
// X <- linear X + cubic (X X^T) X + quintic (X X^T)^2 X (Newton–Schulz; the coefficients of Jordan
// 2024): its singular values come to lie around 1. Without steps it stays as it is.
struct orthogonalization {
    int steps = 0;
    double epsilon = 1e-7; // the least norm to divide by
    static constexpr int usual_steps = 5;
    static constexpr double linear = 3.4445, cubic = -4.775, quintic = 2.0315;
};

// The rule of a parameter's group.
template <class Rule>
CASTNET_HD auto const& rule_of_group(Rule const& rule, [[maybe_unused]] int number) {
    if constexpr (requires { rule.of_group(number); }) {
        return rule.of_group(number);
    } else {
        return rule;
    }
}

// A rule whose update of a number depends on its whole parameter.
template <class Rule>
concept ByParameter =
    std::remove_cvref_t<decltype(rule_of_group(std::declval<Rule const&>(), 0))>::by_parameter;

// One that makes directions orthogonal.
template <class Rule>
concept Orthogonalizes =
    ByParameter<Rule> && requires(Rule const& rule) { rule_of_group(rule, 0).between(); };

namespace detail {

template <class Rule, class T, std::size_t... S>
constexpr bool finds_direction(std::index_sequence<S...>) {
    return requires(Rule const& rule, T p, T slot) { rule.direction(p, p, (void(S), slot)...); };
}
// Whether such a rule goes through a parameter twice. (nvcc 13.0 crashes where slots are an array.)
template <class Rule, class T, int Slots>
inline constexpr bool has_direction =
    finds_direction<Rule, T>(std::make_index_sequence<std::size_t(Slots)>{});

template <class Optimizer, class T>
using rule_of = decltype(std::declval<Optimizer const&>().template at<T>(std::uint64_t{1}, 0.0));
} // namespace detail

} // namespace castnet
