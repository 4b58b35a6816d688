// symbol<shape<…>>: a tensor while a network is traced. Its shape is in its type, so a wrong shape
// is a compile error; its identity is a value, so a tensor used twice is one node.
#pragma once

#include <castnet/expr/expr.hpp>
#include <castnet/graph/function_table.hpp>
#include <castnet/graph/graph.hpp>
#include <castnet/graph/scalar.hpp>

#include <concepts>
#include <utility>

namespace castnet {

// Classes, so that every compiler prints the types.
template <class Variable, class Value>
struct keeps_its_shape {
    static_assert(
        detail::never<Value>,
        "castnet: a variable keeps its type, and with it the shape of its tensor: give "
        "a tensor of another shape a name of its own, auto const y = x | cn::dense<8>; see "
        "keeps_its_shape<shape of the variable, assigned shape>");
};
template <class S>
struct has_value_while_compiling {
    static_assert(detail::never<S>,
                  "castnet: a tensor has no value yet while its network is traced, so if, ?:, && "
                  "and ! cannot ask for one: cn::where(x > 0, a, b) selects element by element, "
                  "and masks combine by * and cn::maximum; see has_value_while_compiling<shape>");
};

template <Shape S>
struct symbol {
    using shape_type = S;
    ir::graph* g = nullptr;
    int id = -1;

    // The part at position i of the first axis, as of a tensor (nn/tensor_functions.hpp).
    constexpr auto operator[](size_t i) const { return select<0>(*this, i); }

    // A single id, such as a length, is a number of a sample like any other.
    template <std::same_as<shape<>> To>
        requires(is_ids<S> && S::rank == 0)
    constexpr operator symbol<To>() const {
        return {g, id};
    }

    // Mistakes.
    template <class Other>
        requires(!std::is_convertible_v<symbol<Other>, symbol>)
    constexpr symbol& operator=(symbol<Other>) {
        void(keeps_its_shape<S, Other>{});
        return *this;
    }
    constexpr explicit operator bool() const {
        void(has_value_while_compiling<S>{});
        return false;
    }
};

template <class T>
inline constexpr bool is_symbol = false;
template <class S>
inline constexpr bool is_symbol<symbol<S>> = true;

template <class T>
concept Symbol = is_symbol<T>;

template <class T>
inline constexpr bool is_scalar = std::is_same_v<T, scalar>;

// NumPy's rule for the shape of an element-wise result.
namespace detail {

template <class A, class B>
constexpr bool broadcastable() {
    size_t const rank = A::rank < B::rank ? A::rank : B::rank;
    for (size_t i = 1; i <= rank; ++i) {
        size_t const a = A::extent[A::rank - i], b = B::extent[B::rank - i];
        if (a != b && a != 1 && b != 1) {
            return false;
        }
    }
    return true;
}

template <class S>
constexpr size_t extent_from_end(size_t from_end) {
    return from_end <= S::rank ? S::extent[S::rank - from_end] : 1;
}
template <class A, class B>
constexpr size_t larger_extent(size_t from_end) {
    size_t const a = extent_from_end<A>(from_end), b = extent_from_end<B>(from_end);
    return a > b ? a : b;
}
template <class A, class B, size_t... Axis>
constexpr auto broadcast_shape(std::index_sequence<Axis...>) {
    constexpr memory_order order = A::rank < B::rank ? order_of<B> : order_of<A>;
    return shape_in<order, larger_extent<A, B>(sizeof...(Axis) - Axis)...>{};
}

} // namespace detail

template <class Left, class Right>
inline constexpr bool shapes_agree = detail::broadcastable<Left, Right>();

template <class A, class B = shape<>, class... More>
constexpr auto broadcast_of() {
    static_assert(shapes_agree<A, B>,
                  "castnet: cannot combine tensors of different shapes element by element; "
                  "see the two shapes in shapes_agree<left, right>");
    if constexpr (!shapes_agree<A, B>) {
        return A{};
    } else {
        using both = decltype(detail::broadcast_shape<A, B>(
            std::make_index_sequence<(A::rank > B::rank ? A::rank : B::rank)>{}));
        if constexpr (sizeof...(More) == 0) {
            return both{};
        } else {
            return broadcast_of<both, More...>();
        }
    }
}

template <Shape S>
constexpr symbol<S> emit(ir::graph& g, ir::node const& n) {
    return {&g, g.push(n)};
}

// An element-wise function of nodes, over the index space `size`; returns its node.
constexpr int map_node(ir::graph& g, fn function, ir::extents size,
                       std::initializer_list<int> operands) {
    ir::node n;
    n.kind = op::map;
    n.function = function;
    n.size = size;
    for (int id : operands) {
        n.in[n.operands++] = id;
    }
    return g.push(n);
}

// The node of a reduction of x, or of x * weight, to `size`: what is 1 (or shared) there is
// reduced.
constexpr ir::node reduce_node(int x, ir::reduction kind, ir::extents size, double factor = 1,
                               int weight = -1) {
    ir::node n;
    n.kind = op::reduce;
    n.reduce = kind;
    n.operands = weight < 0 ? 1 : 2;
    n.in[0] = x;
    n.in[1] = weight;
    n.size = size;
    n.scalar = factor;
    return n;
}

constexpr int constant_node(ir::graph& g, double value) {
    ir::node n = ir::graph::shaped<shape<>>(op::constant, false);
    n.scalar = value;
    return g.push(n);
}

namespace detail {

// The node of a tensor that an operation reads element by element. Weights have an order in memory
// of their own (parameter::kind), so nothing but their product may read them.
constexpr int value_node(ir::graph& g, int id) {
    parameter const* const p = g.parameter_at(id);
    if (p && is_weight(p->kind)) {
        g.report(mistake::weight_as_value);
    }
    return id;
}
template <class S>
constexpr int value_id(symbol<S> x) {
    return value_node(*x.g, x.id);
}

template <class S>
constexpr int operand_id(ir::graph&, symbol<S> x) {
    return value_id(x);
}
template <class T>
    requires std::is_arithmetic_v<T>
constexpr int operand_id(ir::graph& g, T value) {
    return constant_node(g, static_cast<double>(value));
}
constexpr int operand_id(ir::graph& g, scalar x) {
    return x.g ? x.id : constant_node(g, x.value);
}

template <class T>
struct shape_of {
    using type = shape<>;
};
template <Symbol X>
struct shape_of<X> {
    using type = typename X::shape_type;
};

constexpr ir::graph* graph_of() {
    return nullptr;
}
template <class First, class... Rest>
constexpr ir::graph* graph_of(First const& first, Rest const&... rest) {
    if constexpr (is_symbol<First>) {
        return first.g;
    } else if constexpr (is_scalar<First>) {
        return first.g ? first.g : graph_of(rest...);
    } else {
        return graph_of(rest...);
    }
}

template <class T>
concept NumberOperand = is_scalar<T> || std::is_arithmetic_v<T>;
template <class T>
concept Operand = is_symbol<T> || NumberOperand<T>;

// The number that an operand is, if it is one.
template <class T>
constexpr double number_in(T const& x) {
    if constexpr (is_scalar<T>) {
        return x.value;
    } else {
        return static_cast<double>(x);
    }
}

// A kernel draws random numbers at its own points. Where each is for several of these, they are
// stored first.
constexpr int drawn(ir::graph& g, int id, ir::extents const& points) {
    ir::node const x = g.nodes.data()[id];
    if (x.size.pixels == points.pixels && x.size.channels == points.channels) {
        return id;
    }
    return map_node(g, fn::add, x.size, {id, constant_node(g, 0)});
}

// The node of an element-wise function, of samples if one of its operands is; n has its shape.
constexpr int push_map(ir::graph& g, ir::node n, fn function, ir::function_entry const* own,
                       std::initializer_list<int> operands) {
    n.function = function;
    n.own_function = own;
    for (int id : operands) {
        ir::node const& x = g.nodes.data()[id];
        n.size.sample |= x.size.sample;
        n.in[n.operands++] = ir::is_drawn(x.kind) ? drawn(g, id, n.size) : id;
    }
    return g.push(n);
}

} // namespace detail

} // namespace castnet
