// Operations and functions of a plan that are not castnet's own, found again by their numbers.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/plan/plan.hpp>

#include <type_traits>
#include <utility>

namespace castnet::ir {

template <class Plan>
constexpr list<op> own_kinds(Plan const& p) {
    list<op> found;
    for (kernel_launch const& s : p.launches) {
        bool known = s.kind < op::own;
        for (op const kind : found) {
            known = known || kind == s.kind;
        }
        if (!known) {
            found.push(s.kind);
        }
    }
    return found;
}

template <auto const& Plan>
constexpr int own_kind_count() {
    return own_kinds(Plan).size();
}
template <auto const& Plan, int I>
constexpr op own_kind() {
    return own_kinds(Plan)[I];
}

template <auto const& Plan, class F, int... I>
constexpr auto with_own_kind([[maybe_unused]] op kind, F const& f,
                             std::integer_sequence<int, I...>) {
    decltype(f(std::integral_constant<op, op::copy>{})) result{};
    (..., void(kind == own_kind<Plan, I>()
                   ? void(result = f(std::integral_constant<op, own_kind<Plan, I>()>{}))
                   : void()));
    return result;
}

// f(std::integral_constant<op, kind>) for an operation of this plan that is not castnet's own.
template <auto const& Plan, class F>
constexpr auto with_own_kind(op kind, F const& f) {
    return with_own_kind<Plan>(kind, f, std::make_integer_sequence<int, own_kind_count<Plan>()>{});
}

} // namespace castnet::ir
