// grad and value_and_grad of functions of symbols, and products with their Jacobians and Hessians
// (vjp, jvp, hvp), as symbols again: within functions that are themselves differentiated.
//
// f is called with symbols, one for each argument, and returns one. By<…> are the arguments,
// counted from 0, that it is differentiated by, the first one by default; several give a tuple.
// Functions of tensors: train/grad.hpp.
#pragma once

#include <castnet/graph/derivative_formula.hpp>
#include <castnet/graph/differentiate.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace castnet {

template <class Value, class Gradient>
struct value_and_gradient {
    Value value;
    Gradient gradient; // a tuple where there are several
};

template <class Result>
inline constexpr bool is_one_number = false;
template <>
inline constexpr bool is_one_number<symbol<shape<>>> = true;
template <class Expected, class Given>
inline constexpr bool has_shape_of = std::is_same_v<Expected, Given>;

// Classes, so that every compiler prints what they found.
template <class Result>
struct function_gives_number {
    static_assert(
        is_one_number<Result>,
        "castnet: grad: the function must give one number, such as cn::sum(...) of its elements; "
        "for other results there are vjp and jvp; see function_gives_number<result>");
    static constexpr bool checked = is_one_number<Result>;
};
template <class Result>
struct function_gives_tensor {
    static_assert(
        is_symbol<Result>,
        "castnet: vjp, jvp: the function must give one tensor or number, computed from its "
        "arguments; see function_gives_tensor<result>");
    static constexpr bool checked = is_symbol<Result>;
};
template <class F, class... Arguments>
struct function_takes {
    static constexpr bool checked = std::is_invocable_v<F const&, Arguments...>;
    static_assert(checked,
                  "castnet: grad: the function cannot be called with these arguments, a symbol for "
                  "each tensor or number: [](auto x, auto y) { ... }; see function_takes<function, "
                  "arguments...>");
};
template <size_t Arguments, size_t... By>
struct function_has_arguments {
    static constexpr bool checked = ((By < Arguments) && ...);
    static_assert(checked, "castnet: grad<by...>: the function has no such argument; arguments are "
                           "counted from 0; see function_has_arguments<arguments, by...>");
};
template <class Expected, class Given>
struct vector_fits {
    static constexpr bool checked = has_shape_of<Expected, Given>;
    static_assert(
        checked,
        "castnet: the vector of a product must have the shape of the function's result "
        "in vjp(f, v, x...), and of the argument that it is differentiated with respect to in "
        "jvp(f, v, x...) and hvp(f, v, x...); see vector_fits<expected, given>");
};

namespace detail {

// Whether a gradient is the last one or can be differentiated again.
enum class gradient_form : unsigned char { last, again };

// Gradients with respect to these nodes of the sum of node `of` times node `seed`; -1 for those
// that are 0.
template <gradient_form Form>
constexpr ir::list<int> gradient_nodes(ir::graph& g, int of, int seed, ir::list<int> const& by) {
    ir::differentiation d{g, by};
    if constexpr (Form == gradient_form::again) {
        d.use_formula(ir::push_derivative<Form>);
    }
    d.run(of, seed);
    ir::list<int> all;
    for (int id : by) {
        all.push(d.by(id));
    }
    return all;
}

template <Shape S>
constexpr symbol<S> filled(ir::graph& g, double value) {
    return {&g,
            map_node(g, fn::add, ir::space_of<S>, {constant_node(g, value), constant_node(g, 0)})};
}

// Node id, which must be there.
template <Shape S>
constexpr symbol<S> gradient_or_mistake(ir::graph& g, int id) {
    if (id < 0) {
        g.report(mistake::no_gradient_by_argument);
        return filled<S>(g, 0);
    }
    return {&g, id};
}

template <class... S>
constexpr auto one_or_tuple(symbol<S>... all) {
    if constexpr (sizeof...(S) == 1) {
        return (all, ...);
    } else {
        return std::tuple{all...};
    }
}

template <size_t I, class... X>
using argument_at = std::tuple_element_t<I, std::tuple<X...>>;
template <size_t I, class... X>
constexpr auto argument(X... x) {
    return std::get<I>(std::tuple{x...});
}

// Of f's result y by arguments By, times `seed`.
template <gradient_form Form, size_t... By, class Y, class... X>
constexpr auto gradients_of(symbol<Y> y, symbol<Y> seed, X... x) {
    if constexpr (function_has_arguments<sizeof...(X), By...>::checked) {
        ir::graph& g = *y.g;
        ir::list<int> by;
        (..., by.push(argument<By>(x...).id));
        ir::list<int> const all = gradient_nodes<Form>(g, y.id, seed.id, by);
        return [&]<size_t... I>(std::index_sequence<I...>) {
            return one_or_tuple(gradient_or_mistake<typename argument_at<By, X...>::shape_type>(
                g, all.data()[I])...);
        }(std::make_index_sequence<sizeof...(By)>{});
    } else {
        return argument<0>(x...);
    }
}

// The result of f, a symbol: where a check fails, one of the arguments.
template <class Check, class F, class... X>
constexpr auto result_of(F const& f, X... x) {
    if constexpr (function_takes<F, X...>::checked) {
        auto const y = f(x...);
        if constexpr (Check::template of<std::remove_const_t<decltype(y)>>::checked) {
            return y;
        } else {
            return Check::instead(x...);
        }
    } else {
        return Check::instead(x...);
    }
}
struct gives_number {
    template <class Y>
    using of = function_gives_number<Y>;
    static constexpr symbol<shape<>> instead(auto... x) {
        return filled<shape<>>(*graph_of(x...), 0);
    }
};
struct gives_tensor {
    template <class Y>
    using of = function_gives_tensor<Y>;
    static constexpr auto instead(auto first, auto...) { return first; }
};

template <gradient_form Form>
struct gradient_functions {
    template <size_t... By, class F, class... X>
    static constexpr auto value_and_grad(F const& f, X... x) {
        auto const y = result_of<gives_number>(f, x...);
        auto const gradient = gradients_of<Form, By...>(y, filled<shape<>>(*y.g, 1), x...);
        return value_and_gradient<symbol<shape<>>, std::remove_const_t<decltype(gradient)>>{
            y, gradient};
    }

    template <size_t... By, class F, class V, class... X>
    static constexpr auto vjp(F const& f, V v, X... x) {
        auto const y = result_of<gives_tensor>(f, x...);
        using S = typename decltype(y)::shape_type;
        if constexpr (vector_fits<S, typename V::shape_type>::checked) {
            return gradients_of<Form, By...>(y, v, x...);
        } else {
            return gradients_of<Form, By...>(y, y, x...);
        }
    }

    // J'u is linear in u, and its gradient with respect to u is J v, with v in place of what
    // arrives.
    template <size_t By, class F, class V, class... X>
    static constexpr auto jvp(F const& f, V v, X... x) {
        auto const y = result_of<gives_tensor>(f, x...);
        auto const u = filled<typename decltype(y)::shape_type>(*y.g, 0);
        auto const back = gradients_of<gradient_form::again, By>(y, u, x...);
        using S = typename decltype(back)::shape_type;
        if constexpr (vector_fits<S, typename V::shape_type>::checked) {
            return gradients_of<Form, 0>(back, v, u);
        } else {
            return u;
        }
    }

    // The gradient of the gradient times v; 0 where the gradient is a constant.
    template <size_t By, class F, class V, class... X>
    static constexpr auto hvp(F const& f, V v, X... x) {
        auto const slope =
            gradient_functions<gradient_form::again>::template value_and_grad<By>(f, x...).gradient;
        using S = typename decltype(slope)::shape_type;
        if constexpr (By < sizeof...(X) && vector_fits<S, typename V::shape_type>::checked) {
            ir::graph& g = *slope.g;
            int const id =
                gradient_nodes<Form>(g, slope.id, v.id, {argument<By>(x...).id}).data()[0];
            return id < 0 ? filled<S>(g, 0) : symbol<S>{&g, id};
        } else {
            return slope;
        }
    }
};

using inner_gradients = gradient_functions<gradient_form::again>;

template <size_t... Some>
constexpr bool is_among(size_t i) {
    return ((i == Some) || ...);
}

// Calls f with these arguments. Those that it is differentiated by get a value for each sample, as
// the gradient is one of each sample, also by what all samples share, such as a parameter.
template <size_t... By, class F, class... X>
constexpr auto with_samples(F const& f, X... x) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
        return f((is_among<By...>(I) ? X{x.g, sample_id(x)} : x)...);
    }(std::index_sequence_for<X...>{});
}

} // namespace detail

// The function's value, and its gradient.
template <size_t By = 0, size_t... More, class F, Symbol... X>
    requires(sizeof...(X) > 0)
constexpr auto value_and_grad(F const& f, X... x) {
    return detail::with_samples<By, More...>(
        [&](auto... of) { return detail::inner_gradients::value_and_grad<By, More...>(f, of...); },
        x...);
}
template <size_t By = 0, size_t... More, class F, Symbol... X>
    requires(sizeof...(X) > 0)
constexpr auto grad(F const& f, X... x) {
    return value_and_grad<By, More...>(f, x...).gradient;
}
// The transposed Jacobian times v, of the shape of the function's result.
template <size_t By = 0, size_t... More, class F, Symbol V, Symbol... X>
    requires(sizeof...(X) > 0)
constexpr auto vjp(F const& f, V v, X... x) {
    return detail::with_samples<By, More...>(
        [&](auto... of) { return detail::inner_gradients::vjp<By, More...>(f, v, of...); }, x...);
}
// The Jacobian by one argument times v, of that argument's shape.
template <size_t By = 0, class F, Symbol V, Symbol... X>
    requires(sizeof...(X) > 0)
constexpr auto jvp(F const& f, V v, X... x) {
    return detail::with_samples<By>(
        [&](auto... of) { return detail::inner_gradients::jvp<By>(f, v, of...); }, x...);
}
// The Hessian by one argument times v, of that argument's shape.
template <size_t By = 0, class F, Symbol V, Symbol... X>
    requires(sizeof...(X) > 0)
constexpr auto hvp(F const& f, V v, X... x) {
    return detail::with_samples<By>(
        [&](auto... of) { return detail::inner_gradients::hvp<By>(f, v, of...); }, x...);
}

} // namespace castnet
