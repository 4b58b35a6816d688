// Derivatives of element-wise functions as nodes: the formulas of expr/, called with nodes in place
// of numbers, for gradients that are differentiated again.
#pragma once

#include <castnet/graph/differentiation.hpp>

#include <concepts>
#include <utility>

namespace castnet::ir {

// A number of such a formula: a node, or a constant. (All that computes with them are templates,
// and so is the table of formulas: who differentiates once compiles none of it.)
struct formula_number {
    CASTNET_HD constexpr explicit formula_number(double value) : constant{value} {}
    CASTNET_HD constexpr formula_number(graph& graph, int node, extents space)
        : g{&graph}, id{node}, size{space} {}

    double constant = 0;
    graph* g = nullptr; // of a node
    int id = -1;
    extents size{}; // over which the formula is computed

    constexpr int node_in(graph& of) const { return g ? id : constant_node(of, constant); }
};

// (Called by functions that are for devices, too, but only while compiling.)
CASTNET_CALLS_UNCHECKED
template <fn F, std::same_as<formula_number>... X>
CASTNET_HD constexpr formula_number apply(function<F>, X... x) {
    formula_number at{0};
    (..., void(at = x.g ? x : at));
    if (at.g == nullptr) {
        return formula_number{function<F>::value(x.constant...)};
    }
    return {*at.g, map_node(*at.g, F, at.size, {x.node_in(*at.g)...}), at.size};
}

template <std::same_as<formula_number> N>
CASTNET_HD constexpr N operator+(N a, N b) {
    return apply(function<fn::add>{}, a, b);
}
template <std::same_as<formula_number> N>
CASTNET_HD constexpr N operator-(N a, N b) {
    return apply(function<fn::subtract>{}, a, b);
}
template <std::same_as<formula_number> N>
CASTNET_HD constexpr N operator*(N a, N b) {
    return apply(function<fn::multiply>{}, a, b);
}
template <std::same_as<formula_number> N>
CASTNET_HD constexpr N operator/(N a, N b) {
    return apply(function<fn::divide>{}, a, b);
}
template <std::same_as<formula_number> N>
CASTNET_HD constexpr N operator-(N a) {
    return apply(function<fn::negate>{}, a);
}

// Conditions are 1 or 0.
template <std::same_as<formula_number> N>
CASTNET_HD constexpr N operator<(N a, N b) {
    return apply(function<fn::less>{}, a, b);
}
template <std::same_as<formula_number> N>
CASTNET_HD constexpr N operator<=(N a, N b) {
    return apply(function<fn::less_equal>{}, a, b);
}
template <std::same_as<formula_number> N>
CASTNET_HD constexpr N operator>(N a, N b) {
    return apply(function<fn::greater>{}, a, b);
}
template <std::same_as<formula_number> N>
CASTNET_HD constexpr N operator>=(N a, N b) {
    return apply(function<fn::greater_equal>{}, a, b);
}
template <std::same_as<formula_number> N>
CASTNET_HD constexpr N operator==(N a, N b) {
    return apply(function<fn::equal>{}, a, b);
}
template <std::same_as<formula_number> N>
CASTNET_HD constexpr N operator!=(N a, N b) {
    return apply(function<fn::not_equal>{}, a, b);
}
template <std::same_as<formula_number> N>
CASTNET_HD constexpr N operator&(N a, N b) {
    return a * b;
}
template <std::same_as<formula_number> N>
CASTNET_HD constexpr N select(N condition, N yes, N no) {
    return apply(function<fn::where>{}, condition, yes, no);
}

// The derivative of function F by input K at the inputs of this node, whose value is node `value`.
template <fn F, int K, size_t... Input>
constexpr int derivative_node(graph& g, node const& n, int value, std::index_sequence<Input...>) {
    extents const size = g.nodes[value].size;
    auto const number = [&](int id) {
        return id < 0 ? formula_number{0} : formula_number{g, id, size};
    };
    return function<F>::template derivative<K>(number(n.in[Input])..., number(value)).node_in(g);
}

template <fn F, size_t... Input>
constexpr int derivative_node(graph& g, node const& n, int input, int value,
                              std::index_sequence<Input...> all) {
    int id = -1;
    auto const push = [&]<size_t K>(std::integral_constant<size_t, K>) {
        if constexpr (function<F>::reads[K] != no_gradient) {
            id = K == size_t(input) ? derivative_node<F, int(K)>(g, n, value, all) : id;
        }
    };
    (..., push(std::integral_constant<size_t, Input>{}));
    return id;
}

// Of castnet's own functions, by number.
struct derivative_formulas {
    derivative_formula of[static_cast<size_t>(fn::count)];
};
template <auto User, size_t... F>
constexpr derivative_formulas all_derivative_formulas(std::index_sequence<F...>) {
    return {{[](graph& g, node const& n, int input, int value) {
        constexpr fn f = static_cast<fn>(F);
        return derivative_node<f>(g, n, input, value,
                                  std::make_index_sequence<function<f>::arity>{});
    }...}};
}
template <auto User>
inline constexpr derivative_formulas derivative_formula_table =
    all_derivative_formulas<User>(std::make_index_sequence<static_cast<size_t>(fn::count)>{});

// That of any function.
template <auto User>
constexpr int push_derivative(graph& g, node const& n, int input, int value) {
    if (n.function >= fn::own) {
        g.report(mistake::no_second_derivative);
        return -1;
    }
    return derivative_formula_table<User>.of[static_cast<size_t>(n.function)](g, n, input, value);
}

} // namespace castnet::ir
