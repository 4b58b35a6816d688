// The trainable parameters of a plan as ranges that are updated alike: with the same penalty, or
// not at all because the program has frozen them.
#pragma once

#include <castnet/plan/plan.hpp>

#include <span>

namespace castnet::ir {

// Calls f(penalty, frozen, first, last) for ranges [first, last) of elements of region::parameters,
// in order, which together hold all trainable parameters. `frozen` has a flag for each of the
// plan's parameters, or none.
template <class Plan, class F>
constexpr void for_each_penalty(Plan const& plan, std::span<unsigned char const> frozen,
                                F const& f) {
    std::ptrdiff_t first = 0;
    penalty cost{};
    bool is_frozen = false;
    auto const up_to = [&](std::ptrdiff_t last) {
        if (last > first) {
            f(cost, is_frozen, first, last);
        }
        first = last;
    };
    for (std::size_t i = 0; i < std::size(plan.parameters); ++i) {
        placed_parameter const& p = plan.parameters[i];
        bool const freezes = !frozen.empty() && frozen[i] != 0;
        if (p.trainable && p.shape.rank > 0 && (!(p.cost == cost) || freezes != is_frozen)) {
            up_to(p.offset);
            cost = p.cost;
            is_frozen = freezes;
        }
    }
    up_to(plan.trainable);
}

} // namespace castnet::ir
