// Operations that a plan's launches compute, as types: so only their kernels are instantiated.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/plan/plan.hpp>

#include <type_traits>
#include <utility>

namespace castnet::ir {

// Each operation once, but for fused programs.
template <class Plan>
constexpr list<op> find_operation_kinds(Plan const& p) {
    list<op> found;
    for (int i = 0; i < Plan::sizes.launches; ++i) {
        kernel_launch const& s = p.launch(i);
        bool known = is_fused(s);
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
struct operation_kinds {
    static constexpr int count = find_operation_kinds(Plan).size();
    struct table {
        op of[array_size(count)]{};
    };
    static constexpr table copy() {
        table found;
        copy_list(found.of, find_operation_kinds(Plan));
        return found;
    }
    static constexpr table all = copy();
};

template <auto const& Plan, class F, int... I>
constexpr auto with_operation_kind([[maybe_unused]] op kind, F const& f,
                                   std::integer_sequence<int, I...>) {
    using kinds = operation_kinds<Plan>;
    decltype(f(std::integral_constant<op, op::copy>{})) result{};
    (..., void(kind == kinds::all.of[I]
                   ? void(result = f(std::integral_constant<op, kinds::all.of[I]>{}))
                   : void()));
    return result;
}

// f(std::integral_constant<op, kind>) for an operation of this plan that is no fused program.
template <auto const& Plan, class F>
constexpr auto with_operation_kind(op kind, F const& f) {
    return with_operation_kind<Plan>(
        kind, f, std::make_integer_sequence<int, operation_kinds<Plan>::count>{});
}

} // namespace castnet::ir
