// Common parts of optimizers that wrap another one (clip_norm, ema, groups).
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/optim/optimizer.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace castnet::detail {

// "clip_norm(adam)", in checkpoints and messages.
template <class Optimizer, fixed_string Wrapper>
struct name_of_wrapped {
    static constexpr auto text = [] {
        constexpr std::string_view name = Optimizer::name, wrapper = Wrapper.view();
        std::array<char, wrapper.size() + name.size() + 3> all{};
        std::size_t end = 0;
        for (std::string_view part :
             {wrapper, std::string_view{"("}, name, std::string_view{")"}}) {
            for (char c : part) {
                all[end++] = c;
            }
        }
        return all;
    }();
};

// Whether a rule can update a V, a number or a vector.
template <class Rule, class V, class... Slot>
concept Updates = requires(Rule const& rule, V& parameter, V gradient, Slot&... slot) {
    rule(parameter, gradient, slot...);
};

// Whether a rule of whole parameters has a direction for a V.
template <class Rule, class V, class... Slot>
concept Directs = requires(Rule const& rule, V parameter, V gradient, Slot&... slot) {
    rule.direction(parameter, gradient, slot...);
};

template <class Optimizer>
inline constexpr bool has_groups = requires { Optimizer::group_count; };

template <class Optimizer>
struct groups_are_outermost { // a class, so that every compiler prints the type
    static_assert(!has_groups<Optimizer>,
                  "castnet: groups(optimizer, ...) must be the outermost wrapper of an optimizer: "
                  "cn::groups(cn::clip_norm(cn::adam{}, 1), ...); see "
                  "groups_are_outermost<optimizer>");
    static constexpr bool checked = true;
};

template <class Optimizer>
inline constexpr bool is_lazy = requires { typename Optimizer::lazy_optimizer; };

template <class Optimizer>
struct lazy_without_averages {
    static_assert(
        !is_lazy<Optimizer> && !requires { typename Optimizer::averaged_optimizer; },
        "castnet: ema averages all rows of an embedding in each step, and lazy skips most of "
        "them: use one of the two; see lazy_without_averages<optimizer>");
    static constexpr bool checked = true;
};

// The optimizer's numbers and one more.
template <class Optimizer>
[[gnu::noinline]] auto hyperparameters_and(Optimizer const& optimizer, hyperparameter another) {
    if constexpr (requires { optimizer.hyperparameters(); }) {
        auto const own = optimizer.hyperparameters();
        std::array<hyperparameter, own.size() + 1> all{another};
        std::copy(own.begin(), own.end(), all.begin() + 1);
        return all;
    } else {
        return std::array{another};
    }
}

} // namespace castnet::detail
