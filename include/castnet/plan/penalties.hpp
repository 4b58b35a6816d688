// The trainable parameters of a plan as ranges that are updated alike: with the same penalty, and
// by the same rule of the optimizer or by none.
#pragma once

#include <castnet/plan/plan.hpp>

#include <cstddef>
#include <iterator>
#include <span>

namespace castnet::ir {

// By which of an optimizer's rules a parameter is updated, the number of its group. `no_group`: by
// none.
using update_group = unsigned char;
inline constexpr update_group no_group = 255;

// Of a plan's parameter; `groups` has one for each, or none where all are of group 0.
constexpr update_group group_at(std::span<update_group const> groups, std::size_t parameter) {
    return groups.empty() ? update_group(0) : groups[parameter];
}

// Calls f(penalty, group, first, last) for ranges [first, last) of elements of region::parameters,
// in order, which together hold all trainable parameters.
template <class Plan, class F>
constexpr void for_each_penalty(Plan const& plan, std::span<update_group const> groups,
                                F const& f) {
    std::ptrdiff_t first = 0;
    penalty cost{};
    update_group group = 0;
    auto const up_to = [&](std::ptrdiff_t last) {
        if (last > first) {
            f(cost, group, first, last);
        }
        first = last;
    };
    for (std::size_t i = 0; i < std::size(plan.parameters); ++i) {
        placed_parameter const& p = plan.parameter(i);
        update_group const own = group_at(groups, i);
        if (p.trainable && p.shape.rank > 0 && !(p.cost == cost && own == group)) {
            up_to(p.offset);
            cost = p.cost;
            group = own;
        }
    }
    up_to(plan.trainable);
}

} // namespace castnet::ir
