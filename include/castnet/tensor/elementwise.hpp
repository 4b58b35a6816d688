// Element-wise functions of tensors, as expressions: computed when they are assigned, all in one
// loop.
//
// An expression keeps tensors that have a name by reference, as a view; temporaries and plain
// numbers by value. So `auto e = a + tensor<…>{…}` is valid as long as `a` lives.
#pragma once

#include <castnet/tensor/detail/operand.hpp>
#include <castnet/tensor/view.hpp>

#include <tuple>

namespace castnet {

namespace detail {

template <class X>
struct operand_traits { // a number
    using value_type = X;
    using tensor_value = bool; // widens nothing
    using shape_type = shape<>;
    using device_type = void;
};
template <TensorExpression X>
struct operand_traits<X> {
    using value_type = typename X::value_type;
    using tensor_value = value_type;
    using shape_type = typename X::shape_type;
    using device_type = typename X::device_type;
};

// The common type of operands. A plain number does not widen tensors of floating type: float
// tensors times 2.0 are float.
template <class... X>
struct common_value {
    using of_tensors = std::common_type_t<typename operand_traits<X>::tensor_value...>;
    using of_all = std::common_type_t<typename operand_traits<X>::value_type...>;
    using type = std::conditional_t<std::is_floating_point_v<of_tensors>, of_tensors, of_all>;
};
template <class... X>
using common_value_t = typename common_value<std::remove_cvref_t<X>...>::type;

// The same of the operands of F, which takes them for its result: where() looks whether its first
// one is 0, whatever the type of that.
template <fn F, class... X>
struct operands_value : common_value<X...> {};
template <class Condition, class A, class B>
    requires(TensorExpression<A> || TensorExpression<B>)
struct operands_value<fn::where, Condition, A, B> : common_value<A, B> {};

template <class T, class Condition, class A, class B>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr T chosen_in(Condition condition, A a, B b) {
    bool const holds = condition != Condition(0);
    return function<fn::where>::value(static_cast<T>(holds), static_cast<T>(a), static_cast<T>(b));
}

// Whether F is a comparison, 1 or 0.
template <fn F>
inline constexpr bool is_comparison =
    F == fn::less || F == fn::less_equal || F == fn::greater || F == fn::greater_equal ||
    F == fn::equal || F == fn::not_equal;

// F of elements, computed in T. (1 or 0 of wide integers as an int: compilers have no vectors of
// those that become floats.)
template <fn F, class T, class... X>
CASTNET_HD CASTNET_ALWAYS_INLINE constexpr auto value_in(X... x) {
    if constexpr (F == fn::where) {
        return chosen_in<T>(x...);
    } else if constexpr (is_comparison<F> && std::is_integral_v<T>) {
        return static_cast<int>(function<F>::value(static_cast<T>(x)...));
    } else {
        return function<F>::value(static_cast<T>(x)...);
    }
}

template <class... X>
using device_of_operands = typename common_device<typename operand_traits<X>::device_type...>::type;

// An operand as an expression keeps it.
template <class X>
decltype(auto) keep(X&& x) {
    if constexpr (TensorExpression<X> && std::is_lvalue_reference_v<X> && requires { x.view(); }) {
        return x.view();
    } else {
        return static_cast<std::remove_cvref_t<X>>(static_cast<X&&>(x));
    }
}
template <class X>
using kept = decltype(keep(std::declval<X>()));

// The same of the operands of F. What number a bound is stays hidden: of the larger of an element
// and a constant g++ makes a comparison and a choice, not one instruction.
template <fn F, class T>
inline constexpr bool takes_bounds =
    (F == fn::maximum || F == fn::minimum) && std::is_floating_point_v<T>;
template <bool MayBeBound, class X>
CASTNET_ALWAYS_INLINE decltype(auto) keep_operand(X&& x) {
    if constexpr (MayBeBound && std::is_arithmetic_v<std::remove_cvref_t<X>> &&
                  sizeof(x) <= sizeof(double)) {
        auto bound = x;
        CASTNET_OPAQUE(bound);
        return bound;
    } else {
        return keep(static_cast<X&&>(x));
    }
}

} // namespace detail

// A class, so that every compiler prints the shape.
template <class S>
struct has_elements_in_memory {
    static_assert(detail::never<S>,
                  "castnet: an expression is computed where it is assigned, so there is no element "
                  "to ask for: cn::tensor c = a + b, or cn::evaluate(a + b)(0, 1); see "
                  "has_elements_in_memory<shape>");
};

// F of operands X (numbers, views, tensors, other expressions), with elements of type T.
template <fn F, class T, Shape S, class... X>
class elementwise_expression : public tensor_base {
public:
    using value_type = T;
    using shape_type = S;
    using device_type = detail::device_of_operands<X...>;
    static constexpr bool is_flat = (detail::is_flat_over<X, S>() && ...);
    static constexpr bool is_along_rows = (detail::is_along_rows<X>() && ...);
    static constexpr bool is_cheap = castnet::is_cheap(F) && (detail::is_cheap_operand<X> && ...);

    template <class... Operand>
    explicit elementwise_expression(function<F>, Operand&&... x)
        : operands_{
              detail::keep_operand<detail::takes_bounds<F, T>>(static_cast<Operand&&>(x))...} {}

    static constexpr size_t size() { return S::count; }

    std::tuple<X...> const& operands() const { return operands_; }
    std::tuple<X...>& operands() { return operands_; }

    // The same function of others
    template <class... Operand>
    static auto of(Operand const&... x) {
        return elementwise_expression<F, T, S, Operand...>{function<F>{}, x...};
    }

    // Of elements of the operands
    template <class... Element>
    CASTNET_ALWAYS_INLINE static auto value(Element... x) {
        return detail::value_in<F, T>(x...);
    }

    template <class... Index>
    CASTNET_ALWAYS_INLINE auto element(Index... index) const {
        return detail::apply_inline(
            [&](X const&... x) __attribute__((always_inline)) {
                return value(detail::broadcast_element(x, index...)...);
            },
            operands_);
    }

    CASTNET_ALWAYS_INLINE auto flat(size_t i) const {
        return detail::apply_inline(
            [&](X const&... x)
                __attribute__((always_inline)) { return value(detail::flat_element<S>(x, i)...); },
            operands_);
    }

    template <class View>
    CASTNET_ALWAYS_INLINE bool is_disturbed_by(View const& written) const {
        return detail::apply_inline(
            [&](X const&... x) __attribute__((always_inline)) {
                return (detail::is_disturbed_by(x, written) || ...);
            },
            operands_);
    }

    // Mistakes.
    template <class... Index>
    T operator()(Index const&...) const {
        void(has_elements_in_memory<S>{});
        return T{};
    }
    template <class Index>
    T operator[](Index const&) const {
        void(has_elements_in_memory<S>{});
        return T{};
    }

private:
    std::tuple<X...> operands_;
};

// F, element by element: the hook of expr/function.hpp for tensors.
template <fn F, class... X>
    requires TensorOperands<X...>
auto apply(function<F> f, X&&... x) {
    using T = number_of<F, typename detail::operands_value<F, std::remove_cvref_t<X>...>::type>;
    using S = broadcast_t<typename detail::operand_traits<std::remove_cvref_t<X>>::shape_type...>;
    return elementwise_expression<F, T, S, detail::kept<X>...>(f, static_cast<X&&>(x)...);
}

// A class, so that every compiler prints the type.
template <class Given>
struct elementwise_takes {
    static_assert(detail::never<Given>,
                  "castnet: element-wise functions take numbers, tensors and the symbols of a "
                  "network: cn::tensor<float, cn::shape<3>>(values) is a tensor of the numbers in "
                  "a vector; see elementwise_takes<given>");
};

namespace detail {

template <class X>
concept RangeOfNumbers = !TensorExpression<X> && requires(X& x) { x.begin(); };

} // namespace detail

// Only for its message; of one range, it also hides std::apply.
template <fn F, detail::RangeOfNumbers X, class... More>
    requires((Number<More> || detail::RangeOfNumbers<More>) && ...)
std::remove_cvref_t<X> apply(function<F>, X&& x, More&&...) {
    void(elementwise_takes<std::remove_cvref_t<X>>{});
    return x;
}

// x where it lies between low and high, else the nearer of them; NaN stays. As numpy.clip.
template <class X, class Low, class High>
    requires TensorOperands<X, Low, High>
auto clip(X&& x, Low&& low, High&& high) {
    return apply(function<fn::minimum>{},
                 apply(function<fn::maximum>{}, static_cast<X&&>(x), static_cast<Low&&>(low)),
                 static_cast<High&&>(high));
}

} // namespace castnet
