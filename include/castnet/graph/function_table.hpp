// Element-wise functions as differentiation and the planner see them.
#pragma once

#include <castnet/expr/expr.hpp>
#include <castnet/graph/node.hpp>

#include <utility>

namespace castnet::ir {

struct function_entry {
    char const* name = "";
    int arity = 0;
    unsigned reads[max_operands]{};
    int slope[max_operands]{}; // the derivative where it is constant
};

template <class F, size_t I, size_t... Argument>
constexpr int slope_of(std::index_sequence<Argument...>) {
    if constexpr (F::reads[I] == 0) {
        return static_cast<int>(F::template derivative<int(I)>((void(Argument), 0.0)...));
    } else {
        return 0;
    }
}

template <class F, size_t... I>
constexpr function_entry entry_of(std::index_sequence<I...>) {
    constexpr bool has_gradient = ((F::reads[I] != no_gradient) || ...);
    static_assert(F::arity + (has_gradient ? 2 : 0) <= max_operands,
                  "castnet: an element-wise function has too many inputs: the node of its gradient "
                  "holds them, the value and the gradient that arrives");
    function_entry e{F::name, F::arity};
    (..., void(e.reads[I] = F::reads[I]));
    (..., void(e.slope[I] = slope_of<F, I>(std::make_index_sequence<F::arity + 1>{})));
    return e;
}

struct function_entries {
    function_entry entry[static_cast<size_t>(fn::count)];
    constexpr function_entry const& operator[](fn f) const { return entry[static_cast<size_t>(f)]; }
};

template <size_t... F>
constexpr function_entries all_functions(std::index_sequence<F...>) {
    return {{entry_of<function<static_cast<fn>(F)>>(
        std::make_index_sequence<function<static_cast<fn>(F)>::arity>{})...}};
}

// castnet's own, by number.
inline constexpr function_entries function_table =
    all_functions(std::make_index_sequence<static_cast<size_t>(fn::count)>{});

// The entry that a node has to bring along; castnet's own have theirs in the table.
template <fn F>
inline constexpr function_entry function_entry_of =
    entry_of<function<F>>(std::make_index_sequence<function<F>::arity>{});

template <fn F>
constexpr function_entry const* own_function() {
    if constexpr (F < fn::own) {
        return nullptr;
    } else {
        return &function_entry_of<F>;
    }
}

// Of a node of kind map.
constexpr function_entry const& function_of(node const& n) {
    return n.function < fn::own ? function_table[n.function] : *n.own_function;
}

} // namespace castnet::ir
