// Groups of parameters with rates and weight decays of their own, for any optimizer:
//   compile(model, loss, groups(adamw{}, parameter_group{.names = "*.bias", .decay = 0},
//                               parameter_group{.names = "head.*", .rate = 10}));
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/core/wildcard.hpp>
#include <castnet/optim/wrapped.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace castnet {

// Parameters with names such as this, in which * stands for any characters.
struct parameter_group {
    std::string names{};
    double rate = 1;  // times the learning rate of the step
    double decay = 1; // times the optimizer's weight decay; penalties (l1, l2) stay as they are
    bool orthogonal = true; // false: muon treats their weights as all other parameters
};

// An optimizer with a rule for each of some groups, and after them one for all other parameters;
// see groups().
template <class Optimizer, std::size_t Count>
struct grouped : Optimizer {
    std::array<parameter_group, Count> all_groups{};
    static constexpr char const* name = detail::name_of_wrapped<Optimizer, "groups">::text.data();
    static constexpr int group_count = int(Count) + 1;

    [[gnu::noinline]] auto hyperparameters() const {
        return with_factors(std::make_index_sequence<Count>{});
    }
    // The number of a parameter's group: the first whose pattern its name is like.
    [[gnu::noinline]] int group_of(std::string_view parameter) const {
        int number = 0;
        while (number < int(Count) &&
               !detail::matches(all_groups[std::size_t(number)].names, parameter)) {
            ++number;
        }
        return number;
    }
    // "*.bias, head.*", in checkpoints and messages.
    [[gnu::noinline]] std::string group_names() const {
        std::string names;
        for (parameter_group const& g : all_groups) {
            names += (names.empty() ? "" : ", ") + g.names;
        }
        return names;
    }

    template <class T>
    struct rule {
        detail::rule_of<Optimizer, T> of[Count + 1];

        CASTNET_HD auto const& of_group(int number) const { return of[number]; }
        CASTNET_HD rule with_norm(double norm) const
            requires NeedsNorm<detail::rule_of<Optimizer, T>>
        {
            rule all = *this;
            for (auto& each : all.of) {
                each = each.with_norm(norm);
            }
            return all;
        }
    };
    template <class T>
    rule<T> at(std::uint64_t step, double rate) const {
        return rules<T>(step, rate, std::make_index_sequence<Count>{});
    }

private:
    template <class T, std::size_t... I>
    rule<T> rules(std::uint64_t step, double rate, std::index_sequence<I...>) const {
        return {{of(all_groups[I]).template at<T>(step, rate * all_groups[I].rate)...,
                 Optimizer::template at<T>(step, rate)}};
    }
    Optimizer of(parameter_group const& g) const {
        Optimizer own = *this;
        if constexpr (requires { own.weight_decay *= g.decay; }) {
            own.weight_decay *= g.decay;
        }
        if constexpr (requires { own.orthogonal = g.orthogonal; }) {
            own.orthogonal = own.orthogonal && g.orthogonal;
        }
        return own;
    }

    template <fixed_string Text, std::size_t Number>
    static constexpr auto numbered = detail::numbered<Text, Number>();
    template <std::size_t... I>
    [[gnu::noinline]] auto with_factors(std::index_sequence<I...>) const {
        std::array<hyperparameter, 3 * Count> const factors{
            hyperparameter{numbered<"rate_of_group_", I>.text, all_groups[I].rate}...,
            hyperparameter{numbered<"decay_of_group_", I>.text, all_groups[I].decay}...,
            hyperparameter{numbered<"orthogonal_in_group_", I>.text,
                           double(all_groups[I].orthogonal)}...};
        if constexpr (requires(Optimizer const& o) { o.hyperparameters(); }) {
            auto const own = Optimizer::hyperparameters();
            std::array<hyperparameter, own.size() + factors.size()> all{};
            std::copy(own.begin(), own.end(), all.begin());
            std::copy(factors.begin(), factors.end(), all.begin() + own.size());
            return all;
        } else {
            return factors;
        }
    }
};

// The optimizer with other rates and weight decays for some parameters (PyTorch's parameter
// groups). A parameter belongs to the first group that its name fits, or to none. What turns an
// optimizer into another one stands within: groups(ema(adamw{}), …). compile() throws
// castnet::error where a factor is negative or not finite, or no trained parameter belongs to a
// group.
template <class Optimizer, class... Group>
    requires(sizeof...(Group) > 0 && (std::same_as<Group, parameter_group> && ...))
[[gnu::noinline]] grouped<Optimizer, sizeof...(Group)> groups(Optimizer const& optimizer,
                                                              Group const&... group) {
    static_assert(detail::groups_are_outermost<Optimizer>::checked);
    return {optimizer, {group...}};
}

} // namespace castnet
