// Reductions that pass over NaN (reduce.hpp has the others), as NumPy's: nansum, nanmean, nanmin,
// nanmax. Of nothing but NaN the sum is 0 and the rest NaN. Integers count as doubles.
#pragma once

#include <castnet/expr/callables.hpp>
#include <castnet/expr/rounding.hpp>
#include <castnet/tensor/elementwise.hpp>
#include <castnet/tensor/reduce.hpp>
#include <castnet/tensor/statistics.hpp>

#include <limits>

namespace castnet {

namespace detail {

inline constexpr double infinite = std::numeric_limits<double>::infinity();

// x, or NaN where a condition holds: of tensors, or of a number.
template <class Condition, class X>
auto nan_where(Condition const& condition, X const& x) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    if constexpr (TensorExpression<X>) {
        return evaluate(where(condition, unknown, x));
    } else {
        return condition ? static_cast<X>(unknown) : x;
    }
}

template <class Total, class Count>
auto mean_of(Total const& total, Count const& count) {
    if constexpr (TensorExpression<Total>) {
        return evaluate(total / count);
    } else {
        return total / count;
    }
}

} // namespace detail

template <size_t... Axes, TensorExpression X, class... Keep>
auto nansum(X const& x, Keep... keep) {
    auto const values = detail::kept_values(detail::as_floating(x));
    return sum<Axes...>(where(castnet::isnan(values), 0, values), keep...);
}

template <size_t... Axes, TensorExpression X, class... Keep>
auto nanmean(X const& x, Keep... keep) {
    auto const values = detail::kept_values(detail::as_floating(x));
    auto const counted = sum<Axes...>(1 - castnet::isnan(values), keep...);
    return detail::mean_of(nansum<Axes...>(values, keep...), counted);
}

template <size_t... Axes, TensorExpression X, class... Keep>
auto nanmin(X const& x, Keep... keep) {
    auto const values = detail::kept_values(detail::as_floating(x));
    return detail::nan_where(
        all<Axes...>(castnet::isnan(values), keep...),
        min<Axes...>(where(castnet::isnan(values), detail::infinite, values), keep...));
}

template <size_t... Axes, TensorExpression X, class... Keep>
auto nanmax(X const& x, Keep... keep) {
    auto const values = detail::kept_values(detail::as_floating(x));
    return detail::nan_where(
        all<Axes...>(castnet::isnan(values), keep...),
        max<Axes...>(where(castnet::isnan(values), -detail::infinite, values), keep...));
}

} // namespace castnet
