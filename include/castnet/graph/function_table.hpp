// What differentiation and the planner must know of every element-wise function, by its number.
#pragma once

#include <castnet/expr/expr.hpp>
#include <castnet/graph/node.hpp>

#include <utility>

namespace castnet {

struct function_entry {
    char const* name = "";
    int arity = 0;
    unsigned reads[max_operands]{};
    int slope[max_operands]{}; // the derivative where it is constant
};

namespace detail {

template <class F, size_t... I, size_t... Argument>
constexpr function_entry entry_of(std::index_sequence<I...>, std::index_sequence<Argument...>) {
    function_entry e{F::name, F::arity};
    (..., void(e.reads[I] = F::reads[I]));
    auto slope = [](auto input) {
        if constexpr (F::reads[decltype(input)::value] == 0) {
            return static_cast<int>(
                F::template derivative<static_cast<int>(decltype(input)::value)>(
                    (void(Argument), 0.0)...));
        } else {
            return 0;
        }
    };
    (..., void(e.slope[I] = slope(std::integral_constant<size_t, I>{})));
    return e;
}

struct function_entries {
    function_entry entry[static_cast<size_t>(fn::count)];
    constexpr function_entry const& operator[](size_t i) const { return entry[i]; }
};

template <size_t... F>
constexpr function_entries all_functions(std::index_sequence<F...>) {
    return {{entry_of<function<static_cast<fn>(F)>>(
        std::make_index_sequence<function<static_cast<fn>(F)>::arity>{},
        std::make_index_sequence<function<static_cast<fn>(F)>::arity + 1>{})...}};
}

} // namespace detail

inline constexpr detail::function_entries function_table =
    detail::all_functions(std::make_index_sequence<static_cast<size_t>(fn::count)>{});

} // namespace castnet
