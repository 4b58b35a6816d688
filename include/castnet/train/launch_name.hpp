// Names of a plan's launches for tables and pictures: the operation and the functions fused into
// it.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/plan/operation_kinds.hpp>
#include <castnet/plan/plan.hpp>

#include <string>
#include <utility>

namespace castnet::detail {

template <auto const& Plan, size_t... I>
constexpr auto function_names(std::index_sequence<I...>) {
    struct names {
        char const* of[sizeof...(I) + 1];
    };
    return names{{function<Plan.instructions[I].function>::name..., nullptr}};
}

template <auto const& Plan>
std::string launch_name(ir::kernel_launch const& s) {
    static constexpr auto functions =
        function_names<Plan>(std::make_index_sequence<size_t(Plan.sizes.instructions)>{});
    std::string text =
        s.kind < op::count
            ? ir::operation_of(s.kind).name
            : ir::with_operation_kind<Plan, op::count>(
                  s.kind, [](auto own) { return operation<decltype(own)::value>::name; });
    if (s.program >= 0) {
        for (int i = Plan.first_instruction[s.program]; i < Plan.first_instruction[s.program + 1];
             ++i) {
            ir::instruction const& x = Plan.instructions[i];
            if (x.code == ir::opcode::apply) {
                append(text, {' ', functions.of[i], x.derivative >= 0 ? "'" : ""});
            }
        }
    }
    return text;
}

} // namespace castnet::detail
