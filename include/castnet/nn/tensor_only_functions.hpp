// Functions of tensors (castnet/tensor/) that take no symbols: each refuses them with a sentence.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/graph/symbol.hpp>

namespace castnet {

// A class, so that every compiler prints the name.
template <fixed_string Name>
struct function_takes_symbols {
    static_assert(Name.view().empty(),
                  "castnet: this function takes tensors only, not symbols, since it has no "
                  "derivative here: it cannot be used in a network or in a function that is "
                  "differentiated; see function_takes_symbols<name>");
    static constexpr bool checked = true;
};

namespace detail {

template <fixed_string Name, class S, class... More>
constexpr auto refused(symbol<S> x, More const&...) {
    static_assert(function_takes_symbols<Name>::checked);
    return x;
}

} // namespace detail

// Reductions along axes.
#define CASTNET_REFUSES_SYMBOLS(function)                                                          \
    template <size_t... Axes, Symbol X, class... More>                                             \
    constexpr auto function(X x, More const&...) {                                                 \
        return detail::refused<#function>(x);                                                      \
    }
CASTNET_REFUSES_SYMBOLS(any)
CASTNET_REFUSES_SYMBOLS(all)
CASTNET_REFUSES_SYMBOLS(quantile)
CASTNET_REFUSES_SYMBOLS(median)
CASTNET_REFUSES_SYMBOLS(nansum)
CASTNET_REFUSES_SYMBOLS(nanmean)
CASTNET_REFUSES_SYMBOLS(nanmin)
CASTNET_REFUSES_SYMBOLS(nanmax)
#undef CASTNET_REFUSES_SYMBOLS

template <size_t... Axis, Symbol X>
constexpr auto sort(X x) {
    return detail::refused<"sort">(x);
}
template <size_t... Axis, Symbol X>
constexpr auto argsort(X x) {
    return detail::refused<"argsort">(x);
}
template <class Sorted, Symbol X>
constexpr auto searchsorted(Sorted const&, X x) {
    return detail::refused<"searchsorted">(x);
}
template <size_t Bins, Symbol X>
constexpr auto histogram(X x, double, double) {
    return detail::refused<"histogram">(x);
}
template <Symbol X>
constexpr auto unique(X x) {
    return detail::refused<"unique">(x);
}
template <Symbol X>
constexpr auto nonzero(X x) {
    return detail::refused<"nonzero">(x);
}
template <Symbol X, class Mask>
constexpr auto masked_select(X x, Mask const&) {
    return detail::refused<"masked_select">(x);
}
template <size_t Axis, Symbol X, class Ids>
constexpr auto take_along_axis(X x, Ids const&) {
    return detail::refused<"take_along_axis">(x);
}
template <Symbol X, class... More>
constexpr auto allclose(X x, More const&...) {
    return detail::refused<"allclose">(x);
}
template <Symbol X, class Other>
constexpr auto array_equal(X x, Other const&) {
    return detail::refused<"array_equal">(x);
}
template <Symbol X, class... More>
constexpr auto isclose(X x, More const&...) {
    return detail::refused<"isclose">(x);
}
template <Symbol X>
constexpr auto cov(X x) {
    return detail::refused<"cov">(x);
}
template <Symbol X>
constexpr auto corrcoef(X x) {
    return detail::refused<"corrcoef">(x);
}
template <size_t... Axes, Symbol X>
constexpr auto cumprod(X x) {
    return detail::refused<"cumprod">(x);
}
template <Symbol A>
constexpr auto qr(A a) {
    return detail::refused<"qr">(a);
}
template <Symbol A, class B>
constexpr auto lstsq(A a, B const&) {
    return detail::refused<"lstsq">(a);
}
template <Symbol A>
constexpr auto eigh(A a) {
    return detail::refused<"eigh">(a);
}
template <Symbol A>
constexpr auto svd(A a) {
    return detail::refused<"svd">(a);
}

} // namespace castnet
