// Quantiles and the median, over all axes or over some, as reductions (reduce.hpp): computed at
// once; numbers over all axes, or tensors without the axes, or with `keepdims`; integers as
// doubles. Elements are sorted, or those that count selected: on a GPU by
// castnet/device/cuda/tensor/order.hpp.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/expr/callables.hpp>
#include <castnet/expr/math.hpp>
#include <castnet/expr/rounding.hpp>
#include <castnet/tensor/detail/reduced_axes.hpp>
#include <castnet/tensor/detail/sort.hpp>
#include <castnet/tensor/order.hpp>
#include <castnet/tensor/reduce.hpp>
#include <castnet/tensor/statistics.hpp>
#include <castnet/tensor/views.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
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

// Whether selection takes less time than sorting all rows: digits of bytes are sorted at once, and
// many short rows side by side.
template <class Rows, class Key = typename sort_key<typename Rows::value_type>::type>
inline constexpr bool selects_quantiles = is_host<typename Rows::device_type> && sizeof(Key) > 1 &&
                                          (Rows::shape_type::extent[1] > most_side_by_side<Key> ||
                                           Rows::shape_type::extent[0] < 64 / sizeof(Key));

// Of each row the number at `place` in ascending order, the one after it (or itself, if it is the
// last), and the last.
template <class Rows>
auto neighbours_in_order(Rows const& rows, size_t place) {
    using T = typename Rows::value_type;
    using key = sort_key<T>;
    using key_type = typename key::type;
    constexpr size_t count = Rows::shape_type::extent[0], length = Rows::shape_type::extent[1];
    std::array<tensor<T, shape<count>>, 3> found;
    buffer<key_type, length> room;
    key_type* const keys = room.data();
    for (size_t row = 0; row != count; ++row) {
        T const* const x = rows.data() + row * length;
        auto const read = [&] {
            for (size_t i = 0; i != length; ++i) {
                keys[i] = key::of(x[i]);
            }
        };
        read();
        key_type const at = key_at(keys, std::uint32_t{length}, static_cast<std::uint32_t>(place));
        read();
        constexpr key_type most = std::numeric_limits<key_type>::max();
        key_type last = 0, next = most;
        std::uint32_t up_to = 0;
        for (size_t i = 0; i != length; ++i) {
            last = std::max(last, keys[i]);
            next = std::min(next, keys[i] > at ? keys[i] : most);
            up_to += keys[i] <= at ? 1 : 0;
        }
        found[0](row) = key::number(at);
        found[1](row) = key::number(up_to > place + 1 || at == last ? at : next);
        found[2](row) = key::number(last);
    }
    return found;
}

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
    auto const rows = [&]<size_t... I>(std::index_sequence<I...>) {
        constexpr detail::kept_axes_first<S, Axes...> order;
        return evaluate(detail::with_axes(detail::view_of(values),
                                          std::index_sequence<order.axis[I]...>{}))
            .template as<shape<kept::count, count>>();
    }(std::make_index_sequence<S::rank>{});
    double const place = q * static_cast<double>(count - 1);
    auto const below = static_cast<size_t>(place);
    double const fraction = place - static_cast<double>(below);
    auto const between = [&](auto const& low, auto const& high, auto const& largest) {
        tensor<T, shape<kept::count>, typename X::device_type> found =
            where(isnan(largest), largest * 1.0, // NaN, if there is one
                  where(low == high, low * 1.0, low * (1 - fraction) + high * fraction));
        return found;
    };
    auto found = [&] {
        if constexpr (detail::selects_quantiles<decltype(rows)>) {
            auto const [low, high, largest] = detail::neighbours_in_order(rows, below);
            return between(low, fraction > 0 ? high : low, largest);
        } else {
            auto const sorted = sort(rows);
            return between(select<1>(sorted, below),
                           select<1>(sorted, fraction > 0 ? below + 1 : below),
                           select<1>(sorted, count - 1));
        }
    }();
    return max<Axes...>(std::move(found).template as<kept>(), keep...); // of one element each
}

// The middle one of the elements in ascending order, or the mean of the two in the middle, as
// numpy.median (torch.median takes the lower one of these): quantile(x, 0.5).
template <size_t... Axes, TensorExpression X, class... Keep>
auto median(X const& x, Keep... keep) {
    return quantile<Axes...>(x, 0.5, keep...);
}

} // namespace castnet
