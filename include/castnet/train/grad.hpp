// grad, value_and_grad, vjp, jvp and hvp of functions of tensors: derivatives by the
// differentiation of networks, computed by kernels that are fused while compiling.
//
//     auto const loss = [](auto w, auto x, auto y) { // of symbols
//         return cn::mean(cn::square(cn::matmul(x, w) - y));
//     };
//     auto const slope = cn::grad(loss, w, x, y);             // by w: a tensor of its shape
//     auto const [value, slopes] = cn::value_and_grad<0, 1>(loss, w, x, y);
//     auto const [by_w, by_x] = slopes;
//
// The function is known while compiling: a lambda without captures, or an object of a class without
// members. It is called with symbols (graph/symbol.hpp), one for each argument, and returns one;
// all that it computes with are its arguments: tensors, views, expressions and numbers. By<…> are
// those that it is differentiated by, counted from 0: the first one by default; several give a
// tuple. Computed in the common type of the arguments, float or double; results have that type, and
// those by a number are numbers. Each call copies the arguments into memory of its own.
#pragma once

#include <castnet/device/cpu/device.hpp>
#include <castnet/graph/grad.hpp>
#include <castnet/nn/einsum.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/tensor_functions.hpp>
#include <castnet/nn/tensor_only_functions.hpp>
#include <castnet/tensor/owning_tensor.hpp>
#include <castnet/train/compiled_step.hpp>

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

namespace castnet {

// Classes, so that every compiler prints the types.
template <class F>
struct function_is_known {
    static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                  "castnet: grad: the function must be known while compiling: a lambda without "
                  "captures or an object of a class without members; pass what else it reads as "
                  "arguments; see function_is_known<function>");
    static constexpr bool checked = std::is_empty_v<F> && std::is_default_constructible_v<F>;
};
template <class T>
struct arguments_are_real {
    static_assert(
        std::is_same_v<T, float> || std::is_same_v<T, double>,
        "castnet: grad: the arguments must be of type float or double, at least one of them: "
        "only real numbers have derivatives; see arguments_are_real<common type>");
    static constexpr bool checked = true;
};

namespace detail {

template <class X>
concept FunctionArgument = TensorExpression<X> || Number<X>;

template <size_t... D>
auto as_row_major(shape<D...>) -> row_major_shape<D...>;
template <size_t... D>
auto as_plain(shape<D...>) -> shape<D...>;

// Calls f with the symbols of a result, in their order.
template <class F, class S>
constexpr void for_each_symbol(F const& f, symbol<S> x) {
    f(x);
}
template <class F, class... X>
constexpr void for_each_symbol(F const& f, std::tuple<X...> const& all) {
    std::apply([&](X... x) { (..., for_each_symbol(f, x)); }, all);
}
template <class F, class V, class G>
constexpr void for_each_symbol(F const& f, value_and_gradient<V, G> const& both) {
    for_each_symbol(f, both.value);
    for_each_symbol(f, both.gradient);
}

// Tensors and numbers for the symbols of a result, made by read(shape) in their order.
template <class Read, class S>
auto values_of(std::type_identity<symbol<S>>, Read& read) {
    return read(decltype(as_plain(S{})){});
}
template <class Read, class... X>
auto values_of(std::type_identity<std::tuple<X...>>, Read& read) {
    return std::tuple{values_of(std::type_identity<X>{}, read)...};
}
template <class Read, class V, class G>
auto values_of(std::type_identity<value_and_gradient<V, G>>, Read& read) {
    using value = decltype(values_of(std::type_identity<V>{}, read));
    using gradient = decltype(values_of(std::type_identity<G>{}, read));
    return value_and_gradient<value, gradient>{values_of(std::type_identity<V>{}, read),
                                               values_of(std::type_identity<G>{}, read)};
}

// Product::of<F>(symbols…), compiled as a plan for one sample, whose inputs are the arguments.
template <class F, class Product, class... S>
class compiled_function {
    static constexpr auto trace(ir::graph& g) {
        return [&]<size_t... I>(std::index_sequence<I...>) {
            int const ids[] = {new_input<S>(g).id...}; // braces: in the order of the list
            return Product::of(F{}, symbol<S>{&g, ids[I]}...);
        }(std::index_sequence_for<S...>{});
    }
    using result = decltype(trace(std::declval<ir::graph&>()));

    struct recipe {
        static constexpr bool uses_all = false; // a gradient need not depend on all arguments

        template <class>
        static constexpr ir::results build(ir::graph& g) {
            ir::results r;
            for_each_symbol([&](auto x) { r.outputs.push(array_of_its_own(g, x.id)); }, trace(g));
            if (g.parameters.size() > 0) {
                g.report(mistake::parameter_in_function);
            }
            return r;
        }

        // A plan writes no inputs, and no memory that two shapes share.
        static constexpr int array_of_its_own(ir::graph& g, int id) {
            ir::node const n = g.nodes[id];
            if (n.size.sample && !ir::traits_of(n).source && n.kind != op::reshape) {
                return id;
            }
            ir::extents size = n.size;
            size.sample = true;
            return map_node(g, fn::add, size, {id, constant_node(g, 0)});
        }
    };

public:
    template <class T, class... X>
    static auto call(X const&... x) {
        using device = cpu_device<T>;
        constexpr auto const& plan = compiled_step<recipe, F, device, 1, false>::value;
        constexpr auto batch = plan.elements(ir::region::batch);
        constexpr auto workspace = plan.elements(ir::region::workspace);
        cpu::memory const all{size_t(batch + workspace) * sizeof(T), 0};
        typename device::context c;
        c.region[int(ir::region::batch)] = all.template as<T>();
        c.region[int(ir::region::workspace)] = all.template as<T>(batch);
        c.samples = 1;

        ir::array_ref const* input = plan.inputs;
        (..., put<S>(c.at(*input++), x));
        device::template run<plan>(c);
        ir::array_ref const* output = plan.outputs;
        auto read = [&]<class R>(R) {
            T const* const from = c.at(*output++);
            if constexpr (R::rank == 0) {
                return *from;
            } else {
                tensor<T, R> value = tensor<T, R>::empty();
                std::copy_n(from, R::count, value.data());
                return value;
            }
        };
        return values_of(std::type_identity<result>{}, read);
    }

private:
    template <class Input, class T, class X>
    static void put(T* to, X const& x) {
        if constexpr (TensorExpression<X>) {
            tensor_view<T, typename X::shape_type>{to} = x;
        } else {
            *to = static_cast<T>(x);
        }
    }
};

template <class X>
using symbol_shape = decltype(as_row_major(typename operand_traits<X>::shape_type{}));

// The product of f with these arguments. (Functions that are not known while compiling give none.)
template <class Product, class F, class... X>
auto call_function(F const&, X const&... x) {
    using T = common_value_t<X...>;
    if constexpr (function_is_known<F>::checked && arguments_are_real<T>::checked) {
        using function = compiled_function<F, Product, symbol_shape<X>...>;
        return function::template call<T>(x...);
    }
}

using last_gradient = gradient_functions<gradient_form::last>;

template <size_t... By>
struct value_and_grad_product {
    static constexpr auto of(auto const& f, auto... x) {
        return last_gradient::value_and_grad<By...>(f, x...);
    }
};
template <size_t... By>
struct grad_product {
    static constexpr auto of(auto const& f, auto... x) {
        return last_gradient::value_and_grad<By...>(f, x...).gradient;
    }
};
template <size_t... By>
struct vjp_product {
    static constexpr auto of(auto const& f, auto v, auto... x) {
        return last_gradient::vjp<By...>(f, v, x...);
    }
};
template <size_t By>
struct jvp_product {
    static constexpr auto of(auto const& f, auto v, auto... x) {
        return last_gradient::jvp<By>(f, v, x...);
    }
};
template <size_t By>
struct hvp_product {
    static constexpr auto of(auto const& f, auto v, auto... x) {
        return last_gradient::hvp<By>(f, v, x...);
    }
};

} // namespace detail

// The function's value and its gradient: auto const [value, gradient] = value_and_grad(f, x, y).
template <size_t By = 0, size_t... More, class F, detail::FunctionArgument... X>
    requires(sizeof...(X) > 0)
auto value_and_grad(F const& f, X const&... x) {
    return detail::call_function<detail::value_and_grad_product<By, More...>>(f, x...);
}

// The gradient of a function that gives a number (JAX's grad), of the shape of the argument.
template <size_t By = 0, size_t... More, class F, detail::FunctionArgument... X>
    requires(sizeof...(X) > 0)
auto grad(F const& f, X const&... x) {
    return detail::call_function<detail::grad_product<By, More...>>(f, x...);
}

// The transposed Jacobian times v, which has the shape of the function's result.
template <size_t By = 0, size_t... More, class F, detail::FunctionArgument V,
          detail::FunctionArgument... X>
    requires(sizeof...(X) > 0)
auto vjp(F const& f, V const& v, X const&... x) {
    return detail::call_function<detail::vjp_product<By, More...>>(f, v, x...);
}

// The Jacobian by one argument times v, which has the shape of that argument.
template <size_t By = 0, class F, detail::FunctionArgument V, detail::FunctionArgument... X>
    requires(sizeof...(X) > 0)
auto jvp(F const& f, V const& v, X const&... x) {
    return detail::call_function<detail::jvp_product<By>>(f, v, x...);
}

// The Hessian by one argument of a function that gives a number, times v, which has the shape of
// that argument. Element-wise functions of one's own have no second derivative.
template <size_t By = 0, class F, detail::FunctionArgument V, detail::FunctionArgument... X>
    requires(sizeof...(X) > 0)
auto hvp(F const& f, V const& v, X const&... x) {
    return detail::call_function<detail::hvp_product<By>>(f, v, x...);
}

} // namespace castnet
