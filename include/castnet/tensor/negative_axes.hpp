// Axes that count from the last one, sum<-1>(x) as in NumPy, which are refused with a sentence: of
// tensors and of symbols alike.
#pragma once

#include <castnet/tensor/mistakes.hpp>

namespace castnet {

// A class, so that every compiler prints the axes.
template <auto... Given>
struct axes_count_from_first {
    static_assert(!(detail::negative<Given> || ...),
                  "castnet: axes count from the first, which is 0, not from the last: the sum of a "
                  "matrix's rows, np.sum(x, axis=-1), is sum<1>(x); see "
                  "axes_count_from_first<axes...>");
    static constexpr bool checked = true;
};

template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto sum(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto mean(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto prod(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto min(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto max(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto argmin(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto argmax(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto any(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto all(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto variance(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto standard_deviation(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto norm(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto logsumexp(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto median(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto quantile(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto concatenate(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto stack(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto flip(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto roll(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto take(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto take_along_axis(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto select(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto split(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto transpose(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto expand_dims(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto squeeze(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}
template <auto... Axes, class X, class... More>
    requires(detail::negative<Axes> || ...)
constexpr auto repeat_interleave(X const& x, More const&...) {
    return detail::written_otherwise<axes_count_from_first<Axes...>>(x);
}

} // namespace castnet
