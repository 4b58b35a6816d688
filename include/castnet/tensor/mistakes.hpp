// Calls of the functions of tensors as NumPy and PyTorch write them, with axes, extents and counts
// as arguments: each is refused with a sentence that shows how castnet writes it, of symbols, too.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/tensor/tensor_base.hpp>

#include <concepts>

namespace castnet {

template <Shape S>
struct symbol; // a tensor of a network (graph/symbol.hpp)

namespace detail {

template <class X>
inline constexpr bool is_any_tensor = TensorExpression<X>;
template <Shape S>
inline constexpr bool is_any_tensor<symbol<S>> = true;

} // namespace detail

template <class X>
concept AnyTensor = detail::is_any_tensor<X>;

// Classes, so that every compiler prints the text.
template <fixed_string Instead>
struct is_written {
    static_assert(Instead.view().empty(),
                  "castnet: shapes are known while compiling, so axes, extents and counts stand "
                  "before the tensors, as template arguments; see is_written<instead>");
    static constexpr bool checked = true;
};
template <fixed_string Instead>
struct works_along_last_axis {
    static_assert(
        Instead.view().empty(),
        "castnet: of symbols this function works along the last axis and takes only one: for "
        "another axis, transpose the symbol and then the result; see "
        "works_along_last_axis<instead>");
    static constexpr bool checked = true;
};
template <class Given>
struct clip_takes_two_bounds {
    static_assert(detail::never<Given>,
                  "castnet: clip takes both bounds, clip(x, low, high); with one of them it is "
                  "maximum(x, low) or minimum(x, high); see clip_takes_two_bounds<given>");
    static constexpr bool checked = true;
};

namespace detail {

template <auto Number>
concept negative = std::signed_integral<decltype(Number)> && Number < 0;

} // namespace detail

template <auto... Given>
struct counts_from_first {
    static_assert(!(detail::negative<Given> || ...),
                  "castnet: slice: axes and positions count from the first, not from the last: "
                  "x[:, :-1] of five columns is slice<1, 0, 4>(x); see "
                  "counts_from_first<axis, begin, end>");
    static constexpr bool checked = true;
};

namespace detail {

template <class Complaint, class X>
constexpr X written_otherwise(X const& x) {
    static_assert(Complaint::checked);
    return x; // after the complaint
}

} // namespace detail

// Each takes what the function of this name (views.hpp, join.hpp, …) does not.
template <AnyTensor X, class... More>
constexpr auto flip(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"flip<axis>(x)">>(x);
}
template <size_t... Axes, AnyTensor X, class... More>
    requires(sizeof...(Axes) != 1 || sizeof...(More) != 1)
constexpr auto roll(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"roll<axis>(x, shift)">>(x);
}
template <AnyTensor X, class... More>
constexpr auto take(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"take<axis>(x, ids)">>(x);
}
template <TensorExpression X, class... More>
auto take_along_axis(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"take_along_axis<axis>(x, ids)">>(x);
}
template <AnyTensor X, class First, class... More>
constexpr auto tile(X const& x, First const&, More const&...) {
    return detail::written_otherwise<is_written<"tile<times...>(x)">>(x);
}
template <size_t... Given, AnyTensor X, class... More>
    requires(sizeof...(Given) != 2 || sizeof...(More) > 0)
constexpr auto repeat_interleave(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"repeat_interleave<axis, times>(x)">>(x);
}
template <size_t... Axes, AnyTensor X, class... More>
    requires(sizeof...(Axes) != 1 || (TensorExpression<X> && !(TensorExpression<More> && ...)))
constexpr auto concatenate(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"concatenate<axis>(x, y...)">>(x);
}
template <TensorExpression X, TensorExpression... More>
    requires(sizeof...(More) > 0)
auto concat(X const& x, More const&...) { // which joins channels, of symbols
    return detail::written_otherwise<is_written<"concatenate<axis>(x, y...)">>(x);
}
template <size_t... Axes, AnyTensor X, class... More>
    requires(sizeof...(Axes) != 1 || (TensorExpression<X> && !(TensorExpression<More> && ...)))
constexpr auto stack(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"stack<axis>(x, y...)">>(x);
}
template <AnyTensor X, class First, class... More>
constexpr auto transpose(X const& x, First const&, More const&...) {
    return detail::written_otherwise<is_written<"transpose<axes...>(x)">>(x);
}
template <size_t... Given, AnyTensor X, class... More>
    requires(sizeof...(Given) < 3 || sizeof...(More) > 0)
constexpr auto slice(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"slice<axis, begin, end>(x)">>(x);
}
template <auto... Given, TensorExpression X>
    requires(detail::negative<Given> || ...)
auto slice(X const& x) {
    return detail::written_otherwise<counts_from_first<Given...>>(x);
}
template <size_t... Given, AnyTensor X, class... More>
    requires(sizeof...(Given) != 2 || sizeof...(More) > 0)
constexpr auto split(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"split<axis, parts>(x)">>(x);
}
template <size_t... Axes, AnyTensor X, class... More>
    requires(sizeof...(Axes) != 1 || sizeof...(More) != 1)
constexpr auto select(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"select<axis>(x, i)">>(x);
}
template <AnyTensor X, class... More>
constexpr auto expand_dims(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"expand_dims<axis>(x)">>(x);
}
template <AnyTensor X, class... More>
constexpr auto squeeze(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"squeeze<axis>(x)">>(x);
}
template <AnyTensor X, class First, class... More>
constexpr auto broadcast_to(X const& x, First const&, More const&...) {
    return detail::written_otherwise<is_written<"broadcast_to<extents...>(x)">>(x);
}
template <AnyTensor X, class... More>
constexpr auto largest(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"largest<count>(x)">>(x);
}
template <TensorExpression X, class... More>
auto histogram(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"histogram<bins>(x, low, high)">>(x);
}
template <AnyTensor X, class... More>
constexpr auto einsum(char const*, X const& x, More const&...) {
    return detail::written_otherwise<is_written<"einsum<text>(x...)">>(x);
}

template <AnyTensor X, class Bound>
constexpr auto clip(X const& x, Bound const&) {
    return detail::written_otherwise<clip_takes_two_bounds<Bound>>(x);
}

template <size_t... Axes, TensorExpression X, class... More>
    requires(sizeof...(Axes) > 1 || sizeof...(More) > 0)
auto sort(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"sort<axis>(x)">>(x);
}
template <size_t... Axes, TensorExpression X, class... More>
    requires(sizeof...(Axes) > 1 || sizeof...(More) > 0)
auto argsort(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"argsort<axis>(x)">>(x);
}
template <size_t... Axes, TensorExpression X, class... More>
    requires(sizeof...(Axes) > 1 || sizeof...(More) > 0)
auto cumsum(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"cumsum<axis>(x)">>(x);
}
template <size_t... Axes, TensorExpression X, class... More>
    requires(sizeof...(Axes) > 1 || sizeof...(More) > 0)
auto cumprod(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"cumprod<axis>(x)">>(x);
}
template <TensorExpression X, class First, class... More>
auto diff(X const& x, First const&, More const&...) {
    return detail::written_otherwise<is_written<"diff<axis>(x)">>(x);
}
template <TensorExpression X, class Right>
auto tril(X const& x, Right const&) {
    return detail::written_otherwise<is_written<"tril<diagonal>(x)">>(x);
}
template <TensorExpression X, class Right>
auto triu(X const& x, Right const&) {
    return detail::written_otherwise<is_written<"triu<diagonal>(x)">>(x);
}
template <size_t... Axes, AnyTensor X, class... More>
    requires(!TensorExpression<X> && sizeof...(Axes) + sizeof...(More) > 0)
constexpr auto cumsum(X const& x, More const&...) {
    return detail::written_otherwise<works_along_last_axis<"cumsum(transpose(x))">>(x);
}

} // namespace castnet
