// The trainable parameters of a plan as ranges with the same penalty.
#pragma once

#include <castnet/plan/plan.hpp>

namespace castnet::ir {

// Calls f(penalty, first, last) for ranges [first, last) of elements of region::parameters, in
// order, which together hold all trainable parameters.
template <class Plan, class F>
constexpr void for_each_penalty(Plan const& plan, F const& f) {
    std::ptrdiff_t first = 0;
    penalty cost{};
    auto const up_to = [&](std::ptrdiff_t last) {
        if (last > first) {
            f(cost, first, last);
        }
        first = last;
    };
    for (placed_parameter const& p : plan.parameters) {
        if (p.trainable && p.shape.rank > 0 && !(p.cost == cost)) {
            up_to(p.offset);
            cost = p.cost;
        }
    }
    up_to(plan.trainable);
}

} // namespace castnet::ir
