// Element-wise functions and operators of symbols, and x | layer.
#pragma once

#include <castnet/graph/broadcast.hpp>

namespace castnet {

// An element-wise function of symbols and numbers; found by elementwise<F>::operator().
template <fn F, detail::Operand... X>
    requires(Symbol<X> || ...)
constexpr auto apply(function<F>, X const&... x) {
    using result = decltype(broadcast_of<typename detail::shape_of<X>::type...>());
    static_assert(
        (orders_agree<typename detail::shape_of<X>::type, result> && ...),
        "castnet: an image combines element by element only with images (channels, "
        "height, width) and numbers, a volume only with volumes: "
        "cn::reshape_to<cn::row_major_shape<a, b, c>> makes a tensor of other axes of it; "
        "see orders_agree<operand, result>");
    ir::graph& g = *detail::graph_of(x...);
    if constexpr ((axes_agree<typename detail::shape_of<X>::type, result> && ...)) {
        return symbol<result>{&g, detail::push_map(g, ir::graph::shaped<result>(op::map, false), F,
                                                   ir::own_function<F>(),
                                                   {detail::operand_id(g, x)...})};
    } else {
        return detail::map_broadcast<F, result>(g, x...);
    }
}

// Of scalars and numbers alone it is a scalar; one of numbers if none of them is in a trace.
template <fn F, detail::Operand... X>
    requires((is_scalar<X> || ...) && !(Symbol<X> || ...))
constexpr scalar apply(function<F>, X const&... x) {
    ir::graph* const g = detail::graph_of(x...);
    if (g == nullptr) {
        return function<F>::value(detail::number_in(x)...);
    }
    return {*g, detail::push_map(*g, ir::graph::shaped<shape<>>(op::map, false), F,
                                 ir::own_function<F>(), {detail::operand_id(*g, x)...})};
}

// A class, so that every compiler prints the types.
template <class... Operands>
struct operands_are_traced {
    static_assert(detail::never<Operands...>,
                  "castnet: a network, loss or metric computes with symbols and plain numbers, not "
                  "with tensors, vectors or arrays of the program: give those as an input or a "
                  "target, or as a parameter that is not trained (cn::new_parameter with "
                  ".trainable = false) and set it by model.set(name, values); see "
                  "operands_are_traced<types>");
    static constexpr bool checked = true;
};

namespace detail {

// A tensor or container. Beside a symbol it is a mistake, for which there is a sentence.
template <class T>
concept Elements = !Operand<T> && requires(T const& x) { x.size(); };
template <class T>
concept OperandOrElements = Operand<T> || Elements<T>;
template <class T>
concept NumberOrElements = NumberOperand<T> || Elements<T>;

} // namespace detail

template <class... X>
concept SymbolsAndElements = (Symbol<X> || ...) && (detail::Elements<X> || ...);

template <fn F, detail::OperandOrElements... X>
    requires SymbolsAndElements<X...>
constexpr auto apply(function<F>, X const&... x) {
    using result = decltype(broadcast_of<typename detail::shape_of<X>::type...>());
    static_assert(operands_are_traced<X...>::checked);
    return symbol<result>{detail::graph_of(x...), 0};
}

template <class T>
concept Traced = Symbol<T> || is_scalar<T>;
template <class A, class B>
concept TracedPair = (detail::Operand<A> && detail::Operand<B> && (Traced<A> || Traced<B>)) ||
                     SymbolsAndElements<A, B>;

template <class A, class B>
    requires TracedPair<A, B>
constexpr auto operator+(A const& a, B const& b) {
    return apply(function<fn::add>{}, a, b);
}
template <class A, class B>
    requires TracedPair<A, B>
constexpr auto operator-(A const& a, B const& b) {
    return apply(function<fn::subtract>{}, a, b);
}
template <class A, class B>
    requires TracedPair<A, B>
constexpr auto operator*(A const& a, B const& b) {
    return apply(function<fn::multiply>{}, a, b);
}
template <class A, class B>
    requires TracedPair<A, B>
constexpr auto operator/(A const& a, B const& b) {
    return apply(function<fn::divide>{}, a, b);
}
template <Traced A>
constexpr auto operator-(A const& a) {
    return apply(function<fn::negate>{}, a);
}

template <class S, detail::OperandOrElements B>
constexpr symbol<S>& operator+=(symbol<S>& a, B const& b) {
    return a = a + b;
}
template <class S, detail::OperandOrElements B>
constexpr symbol<S>& operator-=(symbol<S>& a, B const& b) {
    return a = a - b;
}
template <class S, detail::OperandOrElements B>
constexpr symbol<S>& operator*=(symbol<S>& a, B const& b) {
    return a = a * b;
}
template <class S, detail::OperandOrElements B>
constexpr symbol<S>& operator/=(symbol<S>& a, B const& b) {
    return a = a / b;
}

// Comparisons are masks of 1 and 0. (Their parameters are spelled so that compilers drop them from
// comparisons of other types without looking at constraints.)
template <class S, detail::OperandOrElements B>
constexpr auto operator<(symbol<S> a, B const& b) {
    return apply(function<fn::less>{}, a, b);
}
template <class S, detail::OperandOrElements B>
constexpr auto operator<=(symbol<S> a, B const& b) {
    return apply(function<fn::less_equal>{}, a, b);
}
template <class S, detail::OperandOrElements B>
constexpr auto operator>(symbol<S> a, B const& b) {
    return apply(function<fn::greater>{}, a, b);
}
template <class S, detail::OperandOrElements B>
constexpr auto operator>=(symbol<S> a, B const& b) {
    return apply(function<fn::greater_equal>{}, a, b);
}
template <class S, detail::OperandOrElements B>
constexpr auto operator==(symbol<S> a, B const& b) {
    return apply(function<fn::equal>{}, a, b);
}
template <class S, detail::OperandOrElements B>
constexpr auto operator!=(symbol<S> a, B const& b) {
    return apply(function<fn::not_equal>{}, a, b);
}
template <detail::NumberOrElements A, class S>
constexpr auto operator<(A const& a, symbol<S> b) {
    return apply(function<fn::less>{}, a, b);
}
template <detail::NumberOrElements A, class S>
constexpr auto operator<=(A const& a, symbol<S> b) {
    return apply(function<fn::less_equal>{}, a, b);
}
template <detail::NumberOrElements A, class S>
constexpr auto operator>(A const& a, symbol<S> b) {
    return apply(function<fn::greater>{}, a, b);
}
template <detail::NumberOrElements A, class S>
constexpr auto operator>=(A const& a, symbol<S> b) {
    return apply(function<fn::greater_equal>{}, a, b);
}
template <detail::NumberOrElements A, class S>
constexpr auto operator==(A const& a, symbol<S> b) {
    return apply(function<fn::equal>{}, a, b);
}
template <detail::NumberOrElements A, class S>
constexpr auto operator!=(A const& a, symbol<S> b) {
    return apply(function<fn::not_equal>{}, a, b);
}

// Mistakes: of what has no value yet, they would ask for one.
template <class S>
constexpr auto operator!(symbol<S> a) {
    void(has_value_while_compiling<S>{});
    return a;
}
template <class S, class B>
constexpr auto operator&&(symbol<S> a, B const&) {
    return !a;
}
template <class S, class B>
constexpr auto operator||(symbol<S> a, B const&) {
    return !a;
}

// A class, so that every compiler prints the types.
template <class Layer, class Input>
struct layer_takes {
    static_assert(
        requires(Layer const& layer, symbol<Input> x) { layer(x); },
        "castnet: what stands at this position cannot be called with the result of the layer "
        "before it: it is not a layer, or one for other shapes, or an error within it stands "
        "above: symbols take cn::exp, not std::exp; see layer_takes<type, input shape>");
    static constexpr bool checked = true;
};

// Of layers in a container, which checks them itself.
template <class>
inline constexpr bool is_placed = false;

// (In this order: a requires lengthens the compilers' traces.)
template <class Layer, class X>
concept AppliesTo = is_placed<Layer> || requires(Layer const& layer, X x) { layer(x); };

// x | layer applies a layer: the functional form.
template <Symbol X, class Layer>
constexpr auto operator|(X x, Layer const& layer) {
    if constexpr (AppliesTo<Layer, X>) {
        return layer(x);
    } else {
        static_assert(layer_takes<Layer, typename X::shape_type>::checked);
        return x;
    }
}

} // namespace castnet
