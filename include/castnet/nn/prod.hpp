// Products of elements: prod(x), prod<axes…>(x).
#pragma once

#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/axis_reductions.hpp>
#include <castnet/nn/reshape.hpp>

#include <concepts>

namespace castnet {

namespace detail {

// The product of each row. Halves are multiplied by each other, so that gradients need no division.
template <size_t Rows, size_t Count>
constexpr auto products_of_rows(symbol<shape<Rows, Count>> x) {
    if constexpr (Count == 1) {
        return x;
    } else {
        constexpr size_t half = Count / 2;
        auto const pairs = slice<1, 0, half>(x) * slice<1, half, 2 * half>(x);
        if constexpr (Count == 2 * half) {
            return products_of_rows(pairs);
        } else {
            return products_of_rows(concatenate<1>(pairs, slice<1, 2 * half, Count>(x)));
        }
    }
}

} // namespace detail

// The product of all elements, or of those along axes.
template <class S>
constexpr symbol<shape<>> prod(symbol<S> x) {
    return reshaped(detail::products_of_rows(reshaped(x, shape<1, S::count>{})), shape<>{});
}
template <class S>
constexpr auto prod(symbol<S> x, keepdims_t) {
    return detail::keep_all_axes(prod(x), x);
}
template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
    requires(sizeof...(Axes) > 0)
constexpr auto prod(symbol<S> x, Keep... keep) {
    static_assert(detail::axes_to_reduce<S, Axes...>::checked);
    if constexpr (!can_reduce_axes<S, Axes...>) {
        return x;
    } else if constexpr (channels_first<S>) {
        auto const products = detail::reduce_in_memory<Axes...>(
            x,
            []<size_t... A>(auto lying, std::index_sequence<A...>) { return prod<A...>(lying); });
        return detail::kept_or_dropped<Axes...>(products, x, keep...);
    } else {
        constexpr auto kept = detail::some_axes<S, false, Axes...>();
        using result = decltype(detail::kept_shape<S>(kept));
        auto const rows =
            reshaped(detail::reduced_last(x, kept, detail::some_axes<S, true, Axes...>()),
                     shape<result::count, S::count / result::count>{});
        return detail::kept_or_dropped<Axes...>(reshaped(detail::products_of_rows(rows), result{}),
                                                x, keep...);
    }
}

} // namespace castnet
