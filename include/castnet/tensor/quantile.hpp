// Quantiles and the median, over all axes or over some, as reductions (reduce.hpp): computed at
// once; numbers over all axes, or tensors without the axes, or with `keepdims`; integers as
// doubles. The elements are sorted: on a GPU by castnet/device/cuda/tensor/order.hpp.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/expr/callables.hpp>
#include <castnet/expr/math.hpp>
#include <castnet/expr/rounding.hpp>
#include <castnet/tensor/detail/reduced_axes.hpp>
#include <castnet/tensor/order.hpp>
#include <castnet/tensor/reduce.hpp>
#include <castnet/tensor/statistics.hpp>
#include <castnet/tensor/views.hpp>

#include <utility>

namespace castnet {

namespace detail {

// All axes of S, those that are reduced last.
template <class S, size_t... Axes>
struct kept_axes_first {
    size_t axis[S::rank + 1] = {};

    constexpr kept_axes_first() {
        size_t count = 0;
        for (bool const reduced : {false, true}) {
            for (size_t i = 0; i != S::rank; ++i) {
                if ((sizeof...(Axes) == 0 || is_one_of<Axes...>(i)) == reduced) {
                    axis[count++] = i;
                }
            }
        }
    }
};

// The shape of a reduction with keepdims.
template <class S, size_t... Axes>
using kept_part = decltype(part_of<S, false>(std::index_sequence<Axes...>{},
                                             std::make_index_sequence<S::rank>{}));
template <class S, size_t... I>
auto all_axes(std::index_sequence<I...>) -> kept_part<S, I...>;
template <class S, size_t... Axes>
struct quantile_shape {
    using type = kept_part<S, Axes...>;
};
template <class S>
struct quantile_shape<S> {
    using type = decltype(all_axes<S>(std::make_index_sequence<S::rank>{}));
};

} // namespace detail

// The number below which a fraction q of the elements lies, by linear interpolation between
// neighbours in ascending order, as numpy.quantile; NaN if one of the elements is. (Next to an
// infinity the result is infinite, as that of numpy.median, where numpy.quantile gives NaN.) Throws
// castnet::error unless q is a number from 0 to 1.
template <size_t... Axes, TensorExpression X, class... Keep>
auto quantile(X const& x, double q, Keep... keep) {
    using S = typename X::shape_type;
    using T = number_of<fn::sqrt, typename X::value_type>;
    static_assert(reduction_takes<Keep...>::checked);
    static_assert(detail::has_distinct_axes<S, Axes...>,
                  "castnet: a reduction needs different axes, each less than the tensor's rank");
    if (!(q >= 0 && q <= 1)) {
        throw error({"castnet: quantile: the fraction ", q, " is not between 0 and 1"});
    }
    using kept = typename detail::quantile_shape<S, Axes...>::type;
    constexpr size_t count = S::count / kept::count;
    auto const values = detail::kept_values(x);
    auto const sorted = [&]<size_t... I>(std::index_sequence<I...>) {
        constexpr detail::kept_axes_first<S, Axes...> order;
        return sort(evaluate(detail::with_axes(detail::view_of(values),
                                               std::index_sequence<order.axis[I]...>{}))
                        .template as<shape<kept::count, count>>());
    }(std::make_index_sequence<S::rank>{});
    double const place = q * static_cast<double>(count - 1);
    auto const below = static_cast<size_t>(place);
    double const fraction = place - static_cast<double>(below);
    auto const low = select<1>(sorted, below);
    auto const high = select<1>(sorted, fraction > 0 ? below + 1 : below);
    auto const largest = select<1>(sorted, count - 1); // NaN, if there is one
    tensor<T, shape<kept::count>, typename X::device_type> found =
        where(isnan(largest), largest * 1.0,
              where(low == high, low * 1.0, low * (1 - fraction) + high * fraction));
    return max<Axes...>(std::move(found).template as<kept>(), keep...); // of one element each
}

// The middle one of the elements in ascending order, or the mean of the two in the middle, as
// numpy.median (torch.median takes the lower one of these): quantile(x, 0.5).
template <size_t... Axes, TensorExpression X, class... Keep>
auto median(X const& x, Keep... keep) {
    return quantile<Axes...>(x, 0.5, keep...);
}

} // namespace castnet
