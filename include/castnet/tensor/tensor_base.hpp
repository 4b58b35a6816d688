// tensor_base: what every tensor, view and expression derives from; it carries the operators.
//
// The operators are friends of this one class and not of the templates that derive from it, so the
// compiler meets each of them once and not once per type of tensor.
#pragma once

#include <castnet/core/shape.hpp>
#include <castnet/expr/arithmetic.hpp>
#include <castnet/expr/compare.hpp>

#include <concepts>
#include <type_traits>

namespace castnet {

struct tensor_base;

template <class X>
concept TensorExpression = std::is_base_of_v<tensor_base, std::remove_cvref_t<X>>;

template <class X>
concept Number = std::is_arithmetic_v<std::remove_cvref_t<X>>;

// Inputs of an element-wise function: tensors and plain numbers, at least one of them a tensor.
template <class... X>
concept TensorOperands =
    ((TensorExpression<X> || Number<X>) && ...) && (TensorExpression<X> || ...);

// Classes, so that every compiler prints the types.
template <class... Tensor>
struct is_one_answer {
    static_assert(detail::never<Tensor...>,
                  "castnet: a tensor is no single answer for if, ?:, &&, || and !: cn::all(a == b) "
                  "and cn::any(a == b) are; masks combine element by element by * (and), "
                  "cn::maximum (or) and 1 - mask (not)");
};
template <class... Tensor>
struct masks_are_numbers {
    static_assert(detail::never<Tensor...>,
                  "castnet: tensors have no operators of bits, and masks are numbers, 1 or 0: "
                  "a * b for a & b, cn::maximum(a, b) for a | b, a != b for a ^ b, 1 - a for ~a");
};
template <class... Tensor>
struct has_no_remainder {
    static_assert(detail::never<Tensor...>,
                  "castnet: tensors have no operator %: cn::remainder(a, b) is NumPy's, with the "
                  "sign of b, and cn::fmod(a, b) that of C, with the sign of a");
};

// Every operator builds an expression that is computed when it is assigned. Comparisons, == among
// them, work element by element and give 1 or 0; for one answer see array_equal and allclose.
struct tensor_base {
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator+(L&& left, R&& right) {
        return apply(function<fn::add>{}, static_cast<L&&>(left), static_cast<R&&>(right));
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator-(L&& left, R&& right) {
        return apply(function<fn::subtract>{}, static_cast<L&&>(left), static_cast<R&&>(right));
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator*(L&& left, R&& right) {
        return apply(function<fn::multiply>{}, static_cast<L&&>(left), static_cast<R&&>(right));
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator/(L&& left, R&& right) {
        return apply(function<fn::divide>{}, static_cast<L&&>(left), static_cast<R&&>(right));
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator<(L&& left, R&& right) {
        return apply(function<fn::less>{}, static_cast<L&&>(left), static_cast<R&&>(right));
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator<=(L&& left, R&& right) {
        return apply(function<fn::less_equal>{}, static_cast<L&&>(left), static_cast<R&&>(right));
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator>(L&& left, R&& right) {
        return apply(function<fn::greater>{}, static_cast<L&&>(left), static_cast<R&&>(right));
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator>=(L&& left, R&& right) {
        return apply(function<fn::greater_equal>{}, static_cast<L&&>(left),
                     static_cast<R&&>(right));
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator==(L&& left, R&& right) {
        return apply(function<fn::equal>{}, static_cast<L&&>(left), static_cast<R&&>(right));
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator!=(L&& left, R&& right) {
        return apply(function<fn::not_equal>{}, static_cast<L&&>(left), static_cast<R&&>(right));
    }
    template <TensorExpression X>
    friend auto operator-(X&& x) {
        return apply(function<fn::negate>{}, static_cast<X&&>(x));
    }

    // In place, with the right side broadcast to the left.
    template <TensorExpression L, class R>
        requires TensorOperands<L, R>
    friend L& operator+=(L&& left, R const& right) {
        left = left + right;
        return left;
    }
    template <TensorExpression L, class R>
        requires TensorOperands<L, R>
    friend L& operator-=(L&& left, R const& right) {
        left = left - right;
        return left;
    }
    template <TensorExpression L, class R>
        requires TensorOperands<L, R>
    friend L& operator*=(L&& left, R const& right) {
        left = left * right;
        return left;
    }
    template <TensorExpression L, class R>
        requires TensorOperands<L, R>
    friend L& operator/=(L&& left, R const& right) {
        left = left / right;
        return left;
    }

    // Mistakes.
    template <std::same_as<bool> Answer>
    explicit operator Answer() const {
        void(is_one_answer<Answer>{});
        return false;
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator&(L&& left, R&& right) {
        void(masks_are_numbers<L, R>{});
        return left * right;
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator|(L&& left, R&& right) {
        void(masks_are_numbers<L, R>{});
        return left * right;
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator^(L&& left, R&& right) {
        void(masks_are_numbers<L, R>{});
        return left * right;
    }
    template <TensorExpression X>
    friend auto operator~(X&& x) {
        void(masks_are_numbers<X>{});
        return -x;
    }
    template <class L, class R>
        requires TensorOperands<L, R>
    friend auto operator%(L&& left, R&& right) {
        void(has_no_remainder<L, R>{});
        return left * right;
    }
};

} // namespace castnet
