// Calls of the functions of tensors as NumPy and PyTorch write them, with axes, extents and counts
// as arguments: each is refused with a sentence that shows how castnet writes it.
#pragma once

#include <castnet/core/fixed_string.hpp>
#include <castnet/core/shape.hpp>
#include <castnet/tensor/tensor_base.hpp>

#include <concepts>

namespace castnet {

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
    static_assert(Instead.view().empty(),
                  "castnet: this function works along the last axis and takes a tensor only: for "
                  "another axis, transpose the tensor and then the result; see "
                  "works_along_last_axis<instead>");
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
template <TensorExpression X, class... More>
auto flip(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"flip<axis>(x)">>(x);
}
template <size_t... Axes, TensorExpression X, class... More>
    requires(sizeof...(Axes) != 1 || sizeof...(More) != 1)
auto roll(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"roll<axis>(x, shift)">>(x);
}
template <TensorExpression X, class... More>
auto take(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"take<axis>(x, ids)">>(x);
}
template <TensorExpression X, class... More>
auto take_along_axis(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"take_along_axis<axis>(x, ids)">>(x);
}
template <TensorExpression X, class First, class... More>
auto tile(X const& x, First const&, More const&...) {
    return detail::written_otherwise<is_written<"tile<times...>(x)">>(x);
}
template <size_t... Given, TensorExpression X, class... More>
    requires(sizeof...(Given) != 2 || sizeof...(More) > 0)
auto repeat_interleave(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"repeat_interleave<axis, times>(x)">>(x);
}
template <size_t... Axes, TensorExpression X, class... More>
    requires(sizeof...(Axes) != 1 || !(TensorExpression<More> && ...))
auto concatenate(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"concatenate<axis>(x, y...)">>(x);
}
template <size_t... Axes, TensorExpression X, class... More>
    requires(sizeof...(Axes) != 1 || !(TensorExpression<More> && ...))
auto stack(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"stack<axis>(x, y...)">>(x);
}
template <TensorExpression X, class First, class... More>
auto transpose(X const& x, First const&, More const&...) {
    return detail::written_otherwise<is_written<"transpose<axes...>(x)">>(x);
}
template <size_t... Given, TensorExpression X, class... More>
    requires(sizeof...(Given) < 3 || sizeof...(More) > 0)
auto slice(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"slice<axis, begin, end>(x)">>(x);
}
template <auto... Given, TensorExpression X>
    requires(detail::negative<Given> || ...)
auto slice(X const& x) {
    return detail::written_otherwise<counts_from_first<Given...>>(x);
}
template <size_t... Given, TensorExpression X, class... More>
    requires(sizeof...(Given) != 2 || sizeof...(More) > 0)
auto split(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"split<axis, parts>(x)">>(x);
}
template <size_t... Axes, TensorExpression X, class... More>
    requires(sizeof...(Axes) != 1 || sizeof...(More) != 1)
auto select(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"select<axis>(x, i)">>(x);
}
template <TensorExpression X, class... More>
auto expand_dims(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"expand_dims<axis>(x)">>(x);
}
template <TensorExpression X, class... More>
auto squeeze(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"squeeze<axis>(x)">>(x);
}
template <TensorExpression X, class First, class... More>
auto broadcast_to(X const& x, First const&, More const&...) {
    return detail::written_otherwise<is_written<"broadcast_to<extents...>(x)">>(x);
}
template <TensorExpression X, class... More>
auto largest(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"largest<count>(x)">>(x);
}
template <TensorExpression X, class... More>
auto histogram(X const& x, More const&...) {
    return detail::written_otherwise<is_written<"histogram<bins>(x, low, high)">>(x);
}
template <TensorExpression X, class... More>
auto einsum(char const*, X const& x, More const&...) {
    return detail::written_otherwise<is_written<"einsum<text>(x...)">>(x);
}

template <size_t... Axes, TensorExpression X, class... More>
    requires(sizeof...(Axes) + sizeof...(More) > 0)
auto sort(X const& x, More const&...) {
    return detail::written_otherwise<works_along_last_axis<"sort(transpose(x))">>(x);
}
template <size_t... Axes, TensorExpression X, class... More>
    requires(sizeof...(Axes) + sizeof...(More) > 0)
auto argsort(X const& x, More const&...) {
    return detail::written_otherwise<works_along_last_axis<"argsort(transpose(x))">>(x);
}
template <size_t... Axes, TensorExpression X, class... More>
    requires(sizeof...(Axes) + sizeof...(More) > 0)
auto cumsum(X const& x, More const&...) {
    return detail::written_otherwise<works_along_last_axis<"cumsum(transpose(x))">>(x);
}

} // namespace castnet
