// Costly operands of an expression that are repeated along its axes, as the deviations in
// (x - mean) / sqrt(variance + 1e-5): computed before its loop, once.
#pragma once

#include <castnet/tensor/detail/operand.hpp>
#include <castnet/tensor/elementwise.hpp>

#include <tuple>
#include <type_traits>

namespace castnet::detail {

// Whether an operand of an expression with so many elements is one of these, or has some.
template <size_t Count, class X>
inline constexpr bool is_costly_repeated = false;
template <size_t Count, fn F, class T, class S, class... X>
inline constexpr bool is_costly_repeated<Count, elementwise_expression<F, T, S, X...>> =
    4 * S::count <= Count && !elementwise_expression<F, T, S, X...>::is_cheap;
template <size_t Count, class X>
inline constexpr bool repeats_costly = false;
template <size_t Count, fn F, class T, class S, class... X>
inline constexpr bool repeats_costly<Count, elementwise_expression<F, T, S, X...>> =
    is_costly_repeated<Count, elementwise_expression<F, T, S, X...>> ||
    (repeats_costly<Count, X> || ...);

// use(operands…), in which these are tensors and all others views or functions of such.
template <size_t Count, size_t I, class Operands, class Use, class... Computed>
CASTNET_ALWAYS_INLINE auto with_operands_computed(Operands const& x, Use const& use,
                                                  Computed const&... computed) {
    if constexpr (I == std::tuple_size_v<Operands>) {
        return use(computed...);
    } else {
        auto const& operand = std::get<I>(x);
        using X = std::remove_cvref_t<decltype(operand)>;
        auto const take_next = [&](auto const& next) __attribute__((always_inline)) {
            return with_operands_computed<Count, I + 1>(x, use, computed..., next);
        };
        if constexpr (is_costly_repeated<Count, X>) {
            auto const values = evaluate(operand);
            return take_next(values.view());
        } else if constexpr (requires { operand.operands(); }) {
            return with_operands_computed<Count, 0>(
                operand.operands(), [&](auto const&... of) __attribute__((always_inline)) {
                    return take_next(X::of(of...));
                });
        } else if constexpr (requires { operand.view(); }) {
            return take_next(operand.view());
        } else {
            return take_next(operand);
        }
    }
}

// use(x), in which these operands are tensors.
template <size_t Count, class X, class Use>
CASTNET_ALWAYS_INLINE auto with_repeated_computed(X const& x, Use const& use) {
    if constexpr (repeats_costly<Count, X>) {
        return with_operands_computed<Count, 0>(std::tuple<X const&>{x}, use);
    } else {
        return use(x);
    }
}

} // namespace castnet::detail
