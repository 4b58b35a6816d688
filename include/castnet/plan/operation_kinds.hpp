// Operations that a plan's launches compute, as types: so only their kernels are instantiated.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/plan/plan.hpp>

#include <type_traits>
#include <utility>

namespace castnet::ir {

// Each operation from `least` on once, but for fused programs.
template <class Plan>
constexpr list<op> find_operation_kinds(Plan const& p, op least) {
    list<op> found;
    for (int i = 0; i < Plan::sizes.launches; ++i) {
        kernel_launch const& s = p.launch(i);
        bool known = is_fused(s) || s.kind < least;
        for (op const kind : found) {
            known = known || kind == s.kind;
        }
        if (!known) {
            found.push(s.kind);
        }
    }
    return found;
}

template <auto const& Plan, op Least>
struct operation_kinds {
    static constexpr int count = find_operation_kinds(Plan, Least).size();
    struct table {
        op of[array_size(count)]{};
    };
    static constexpr table copy() {
        table found;
        copy_list(found.of, find_operation_kinds(Plan, Least));
        return found;
    }
    static constexpr table all = copy();
};

template <auto const& Plan, op Least, class F, int... I>
constexpr auto with_operation_kind([[maybe_unused]] op kind, F const& f,
                                   std::integer_sequence<int, I...>) {
    using kinds = operation_kinds<Plan, Least>;
    decltype(f(std::integral_constant<op, op::copy>{})) result{};
    (..., void(kind == kinds::all.of[I]
                   ? void(result = f(std::integral_constant<op, kinds::all.of[I]>{}))
                   : void()));
    return result;
}

// f(std::integral_constant<op, kind>) for an operation of this plan from Least on that is no fused
// program.
template <auto const& Plan, op Least = op{}, class F>
constexpr auto with_operation_kind(op kind, F const& f) {
    return with_operation_kind<Plan, Least>(
        kind, f, std::make_integer_sequence<int, operation_kinds<Plan, Least>::count>{});
}

} // namespace castnet::ir
