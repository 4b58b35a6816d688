// Element-wise functions, each written once: its value, its derivative and its name.
//
// function<F> is what every user of a function sees: tensor arithmetic, the graph's fused kernels
// on any device, the derivation of gradients and the printed plan. A specialisation holds
//
//   static constexpr int arity;                     number of inputs, 1 to 8; at most 6
//                                                   where there is a derivative
//   static constexpr char const* name;
//   template <class T> static T value(T x0, …);     all inputs
//   static constexpr unsigned reads[arity];         reads[i]: what the derivative by input i reads:
//                                                   bit k is input k, bit `arity` is the value y;
//                                                   no_gradient where there is no derivative
//   template <int I, class T>
//   static T derivative(T x0, …, T y);              by input I; unread arguments may be anything
//
// Where a derivative is differentiated again, T is a node of the graph
// (graph/derivative_formula.hpp). So its formula consists of arithmetic, comparisons and select(),
// and has other functions from value_of<fn::exp>(x).
//
// Functions of truth (less, equal, …) return 1 or 0.
//
// Numbers from fn::own on are for functions of other programs, each for one function in a whole
// program. It needs nothing but a specialisation and an object to call it by:
//
//   inline constexpr auto cube_number = castnet::fn::own;
//   template <>
//   struct castnet::function<cube_number> : castnet::derivative_reads<0b01> { … };
//   inline constexpr castnet::elementwise<cube_number> cube{};
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/target.hpp>

#include <cstdint>
#include <type_traits>

namespace castnet {

// clang-format off
enum class fn : std::uint8_t {
    // arithmetic.hpp
    add, subtract, multiply, divide, negate, absolute, sign, square, minimum, maximum, multiply_add,
    lerp, stop_gradient,
    // rounding.hpp
    floor, ceil, round, is_nan, is_finite,
    // compare.hpp
    less, less_equal, greater, greater_equal, equal, not_equal, where,
    // math.hpp
    exp, expm1, log, log1p, sqrt, rsqrt, pow, sin, cos, erf,
    // activation.hpp
    relu, relu6, leaky_relu, elu, selu, gelu, gelu_tanh, sigmoid, log_sigmoid, tanh, softplus,
    softsign, silu, mish, hard_sigmoid, hard_tanh, hard_silu,
    // logistic_loss.hpp
    logistic_loss,
    // normalize.hpp
    normalize, normalize_gradient, squared_difference, inverse_deviation, running_variance, softmax,
    // trigonometry.hpp, as sin and cos are
    tan, asin, acos, atan, atan2,
    // hyperbolic.hpp
    sinh, cosh, asinh, acosh, atanh,
    // remainder.hpp
    fmod, remainder,
    // gamma.hpp
    lgamma, digamma, polygamma,
    // logaddexp.hpp
    logaddexp,
    // math.hpp, as exp is
    exp2, log2, log10, cbrt, hypot, xlogy, erfc,
    // rectifier.hpp, as hard_tanh is
    clip,
    // math.hpp, as erf and log are
    erfinv, logit,
    count,
    own = 128 // the first of the numbers for functions of other programs
};
// clang-format on

// Whether a function costs less than to load its value.
constexpr bool is_cheap(fn f) {
    return f == fn::add || f == fn::subtract || f == fn::multiply || f == fn::negate ||
           f == fn::relu || f == fn::relu6 || f == fn::leaky_relu || f == fn::normalize ||
           f == fn::maximum || f == fn::minimum || f == fn::square || f == fn::squared_difference;
}

// (Values are computed by functions of the processor's vectors.)
inline namespace CASTNET_VECTORS {
template <fn F>
struct function;

// Another function within the formula of a derivative: of numbers, or of nodes.
template <fn F, class... T>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr auto value_of(T... x) {
    if constexpr ((std::is_arithmetic_v<T> && ...)) {
        return function<F>::value(x...);
    } else {
        return apply(function<F>{}, x...);
    }
}
} // namespace CASTNET_VECTORS

inline constexpr unsigned no_gradient = ~0U;

// A base for specialisations: the part that is data, one mask per input.
template <unsigned... Reads>
struct derivative_reads {
    static constexpr int arity = static_cast<int>(sizeof...(Reads));
    static constexpr unsigned reads[sizeof...(Reads)] = {Reads...};
};
// The same of a function that computes in integers where its inputs are.
template <unsigned... Reads>
struct integer_derivative_reads : derivative_reads<Reads...> {
    static constexpr bool takes_integers = true;
};

// Type that F computes in when its inputs have the common type T: T itself, but int for smaller
// integers (as in C++ arithmetic), and double for integers in the functions of math.hpp and the
// activations (as in NumPy).
template <fn F>
inline constexpr bool takes_integers = requires { function<F>::takes_integers; };
template <fn F, class T>
using number_of =
    std::conditional_t<std::is_integral_v<T> && !takes_integers<F>, double, decltype(+T{})>;

// The callable form: cn::exp(x) for a number, and for whatever provides apply(function<F>, x…).
template <fn F>
struct elementwise {
    template <class... X>
    constexpr auto operator()(X&&... x) const {
        static_assert(sizeof...(X) > 0,
                      "castnet: an activation is an object and takes no (): cn::relu");
        static_assert(sizeof...(X) == function<F>::arity || sizeof...(X) == 0,
                      "castnet: wrong number of arguments to an element-wise function");
        if constexpr (sizeof...(X) != function<F>::arity) {
            return *this;
        } else if constexpr ((std::is_arithmetic_v<std::remove_cvref_t<X>> && ...)) {
            using T = number_of<F, std::common_type_t<std::remove_cvref_t<X>...>>;
            return function<F>::value(static_cast<T>(x)...);
        } else { // found with symbols (graph/) and tensors (tensor/)
            return apply(function<F>{}, static_cast<X&&>(x)...);
        }
    }
};

} // namespace castnet
