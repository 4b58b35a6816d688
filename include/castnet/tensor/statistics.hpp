// Covariances and correlations; and variance, standard deviation, norm and logsumexp, over all axes
// or over some, as reductions (reduce.hpp): computed at once; numbers over all axes, or tensors
// without the axes, or with `keepdims`.
#pragma once

#include <castnet/expr/callables.hpp>
#include <castnet/expr/math.hpp>
#include <castnet/expr/rounding.hpp>
#include <castnet/tensor/elementwise.hpp>
#include <castnet/tensor/matmul.hpp>
#include <castnet/tensor/reduce.hpp>
#include <castnet/tensor/views.hpp>

#include <cmath>

namespace castnet {

namespace detail {

// The square root of a number or of a tensor's elements
template <class X>
auto root_of(X const& x) {
    if constexpr (TensorExpression<X>) {
        return evaluate(castnet::sqrt(x));
    } else {
        return std::sqrt(x);
    }
}

// Integers as doubles
template <class X>
decltype(auto) as_floating(X const& x) {
    if constexpr (std::is_integral_v<typename X::value_type>) {
        return x * 1.0;
    } else {
        return (x);
    }
}

// An operand that can be read several times: a view of elements in memory, else their values.
template <class X>
auto kept_values(X const& x) {
    if constexpr (requires { typename X::strides_type; }) {
        return view_of(x);
    } else {
        return evaluate(x);
    }
}

} // namespace detail

// The mean of squared differences to the mean, as numpy.var; torch.var divides by one less.
template <size_t... Axes, TensorExpression X, class... Keep>
auto variance(X const& x, Keep... keep) {
    auto const values = detail::kept_values(x);
    auto const centre = mean<Axes...>(values, keepdims);
    return mean<Axes...>(square(values - centre), keep...);
}

// The square root of the variance, as numpy.std.
template <size_t... Axes, TensorExpression X, class... Keep>
auto standard_deviation(X const& x, Keep... keep) {
    return detail::root_of(variance<Axes...>(x, keep...));
}

// The square root of the sum of squares, as numpy.linalg.norm of vectors.
template <size_t... Axes, TensorExpression X, class... Keep>
auto norm(X const& x, Keep... keep) {
    return detail::root_of(sum<Axes...>(square(detail::as_floating(x)), keep...));
}

// The covariances of the rows of a matrix, which has variables as rows and observations as columns,
// as numpy.cov and torch.cov: divided by one less than there are observations.
template <TensorExpression X>
auto cov(X const& x) {
    using S = typename X::shape_type;
    static_assert(detail::is_matrix<S>,
                  "castnet: cov takes a matrix: variables as rows, observations as columns");
    auto const values = detail::kept_values(detail::as_floating(x));
    auto const centred = evaluate(values - mean<1>(values, keepdims));
    return evaluate(matmul(centred, transpose(centred)) /
                    static_cast<double>(S::extent[S::rank - 1] - 1));
}

// The correlation coefficients of the rows of a matrix, as numpy.corrcoef and torch.corrcoef: NaN
// for rows of equal numbers.
template <TensorExpression X>
auto corrcoef(X const& x) {
    static_assert(detail::is_matrix<typename X::shape_type>,
                  "castnet: corrcoef takes a matrix: variables as rows, observations as columns");
    if constexpr (!detail::is_matrix<typename X::shape_type>) {
        return evaluate(x); // after the complaint
    } else {
        auto const covariances = cov(x);
        tensor const deviations = castnet::sqrt(diagonal(covariances));
        return evaluate(clip(covariances / expand_dims<1>(deviations) / deviations, -1, 1));
    }
}

// The logarithm of the sum of exponentials, computed without overflow, as torch.logsumexp.
template <size_t... Axes, TensorExpression X, class... Keep>
auto logsumexp(X const& x, Keep... keep) {
    auto const values = detail::kept_values(detail::as_floating(x));
    auto const largest = max<Axes...>(values, keepdims);
    auto const centre = evaluate(where(isfinite(largest), largest, 0));
    auto const sums = sum<Axes...>(castnet::exp(values - centre), keepdims);
    return max<Axes...>(castnet::log(sums) + centre, keep...); // of one element each
}

} // namespace castnet
