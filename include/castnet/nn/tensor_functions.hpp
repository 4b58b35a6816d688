// Functions of tensors (castnet/tensor/) for symbols, under the same names: reductions along axes,
// products with vectors, transposition, diagonals. So a function that is written once computes with
// tensors and is differentiated (train/grad.hpp). They are not for images, whose axes mean
// something else.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/permute.hpp>
#include <castnet/tensor/reduce.hpp>

#include <algorithm>
#include <utility>

namespace castnet {

template <class S, size_t... Axes>
inline constexpr bool can_reduce_axes = !channels_first<S> && detail::has_distinct_axes<S, Axes...>;

namespace detail {

template <class S, size_t... Axes>
struct axes_to_reduce {
    static_assert(can_reduce_axes<S, Axes...>,
                  "castnet: a reduction along axes needs axes that the tensor has, each once, and "
                  "no image or volume; see can_reduce_axes<shape, axes...>");
    static constexpr bool checked = true;
};

// The axes of S that are reduced, or those that are kept.
template <class S, bool Reduced, size_t... Axes>
constexpr auto some_axes() {
    return []<size_t... I>(std::index_sequence<I...>) {
        constexpr size_t count = (size_t{is_one_of<Axes...>(I) == Reduced} + ... + 0);
        return [&]<size_t... K>(std::index_sequence<K...>) {
            [[maybe_unused]] constexpr auto nth = [](size_t k) {
                for (size_t axis = 0;; ++axis) {
                    if (is_one_of<Axes...>(axis) == Reduced && k-- == 0) {
                        return axis;
                    }
                }
            };
            return std::index_sequence<nth(K)...>{};
        }(std::make_index_sequence<count>{});
    }(std::make_index_sequence<S::rank>{});
}

template <class S, size_t... Kept, size_t... Reduced>
constexpr auto reduced_last(symbol<S> x, std::index_sequence<Kept...>,
                            std::index_sequence<Reduced...>) {
    return permute<Kept..., Reduced...>(x);
}
template <class S, size_t... Kept>
auto kept_shape(std::index_sequence<Kept...>) -> row_major_shape<S::extent[Kept]...>;

// Kernels reduce rows of features or all rows to one; other axes move after the rest first.
template <size_t... Axes, class S>
constexpr auto reduce_axes(symbol<S> x, ir::reduction kind, double factor = 1) {
    static_assert(axes_to_reduce<S, Axes...>::checked);
    if constexpr (!can_reduce_axes<S, Axes...>) {
        return x;
    } else {
        constexpr auto kept = some_axes<S, false, Axes...>();
        using result = decltype(kept_shape<S>(kept));
        constexpr auto rest = static_cast<int>(result::count);
        constexpr auto count = static_cast<int>(S::count / result::count);
        constexpr bool first = ((Axes < sizeof...(Axes)) && ...);
        int id = sample_id(x);
        if constexpr (!first) {
            id = reduced_last(x, kept, some_axes<S, true, Axes...>()).id;
        }
        ir::graph& g = *x.g;
        int const rows =
            first ? seen_as(g, id, {true, count, rest}) : seen_as(g, id, {true, rest, count});
        ir::extents const to = first ? ir::extents{true, 1, rest} : ir::extents{true, rest, 1};
        int const all = g.push(reduce_node(rows, kind, to, factor));
        return symbol<result>{&g, seen_as(g, all, ir::space_of<result>)};
    }
}

template <size_t... Axes, class S, class R>
constexpr auto keep_axes(symbol<R> x, symbol<S>) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
        return reshaped(x, row_major_shape<(is_one_of<Axes...>(I) ? 1 : S::extent[I])...>{});
    }(std::make_index_sequence<S::rank>{});
}
template <size_t... Axes, class S, class R, class... Keep>
constexpr auto kept_or_dropped(symbol<R> reduced, symbol<S> x, Keep...) {
    if constexpr (sizeof...(Keep) == 0) {
        return reduced;
    } else {
        return keep_axes<Axes...>(reduced, x);
    }
}

// The square root of a sum of squares; where all of these are 0, so is the gradient, as in PyTorch.
template <class S>
constexpr auto root_of_sum(symbol<S> x) {
    auto const is_zero = x == 0;
    return where(is_zero, 0, sqrt(where(is_zero, 1, x)));
}

template <class S, size_t... Axes>
inline constexpr double share_of_axes = 1.0 / static_cast<double>((S::extent[Axes] * ... * 1));

} // namespace detail

template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
    requires(sizeof...(Axes) > 0)
constexpr auto sum(symbol<S> x, Keep... keep) {
    return detail::kept_or_dropped<Axes...>(detail::reduce_axes<Axes...>(x, ir::reduction::sum), x,
                                            keep...);
}
template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
    requires(sizeof...(Axes) > 0)
constexpr auto mean(symbol<S> x, Keep... keep) {
    return detail::kept_or_dropped<Axes...>(
        detail::reduce_axes<Axes...>(x, ir::reduction::sum, detail::share_of_axes<S, Axes...>), x,
        keep...);
}
// Each of several equal maxima has the whole gradient.
template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
    requires(sizeof...(Axes) > 0)
constexpr auto max(symbol<S> x, Keep... keep) {
    return detail::kept_or_dropped<Axes...>(detail::reduce_axes<Axes...>(x, ir::reduction::max), x,
                                            keep...);
}

// For what is no keepdims: fails with a message.
template <size_t... Axes, class S, class Given>
    requires(!std::same_as<Given, keepdims_t>)
constexpr auto sum(symbol<S> x, Given const&) {
    static_assert(reduction_takes<Given>::checked);
    return x;
}
template <size_t... Axes, class S, class Given>
    requires(!std::same_as<Given, keepdims_t>)
constexpr auto mean(symbol<S> x, Given const& given) {
    return sum(x, given);
}
template <size_t... Axes, class S, class Given>
    requires(!std::same_as<Given, keepdims_t>)
constexpr auto max(symbol<S> x, Given const& given) {
    return sum(x, given);
}
template <size_t... Axes, class S, class Given>
    requires(!std::same_as<Given, keepdims_t>)
constexpr auto min(symbol<S> x, Given const& given) {
    return sum(x, given);
}

template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
constexpr auto min(symbol<S> x, Keep... keep) {
    return -max<Axes...>(-x, keep...);
}

template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
constexpr auto norm(symbol<S> x, Keep... keep) {
    return detail::root_of_sum(sum<Axes...>(square(x), keep...));
}

template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
constexpr auto variance(symbol<S> x, [[maybe_unused]] Keep... keep) {
    if constexpr (sizeof...(Axes) == 0) {
        return mean(square(x - mean(x)));
    } else {
        return mean<Axes...>(square(x - mean<Axes...>(x, keepdims)), keep...);
    }
}
template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
constexpr auto standard_deviation(symbol<S> x, Keep... keep) {
    return detail::root_of_sum(variance<Axes...>(x, keep...));
}

template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
constexpr auto logsumexp(symbol<S> x, Keep...) {
    auto const finite = [](auto largest) {
        return stop_gradient(where(isfinite(largest), largest, 0));
    };
    if constexpr (sizeof...(Axes) == 0) {
        auto const centre = finite(max(x));
        return log(sum(exp(x - centre))) + centre;
    } else {
        auto const centre = finite(max<Axes...>(x, keepdims));
        auto const sums = log(sum<Axes...>(exp(x - centre), keepdims)) + centre;
        if constexpr (sizeof...(Keep) > 0) {
            return sums;
        } else {
            using result = decltype(detail::kept_shape<S>(detail::some_axes<S, false, Axes...>()));
            return reshaped(sums, result{});
        }
    }
}

// The first place of the largest element, over all axes counted in row-major order, or along one. A
// derivative takes it for a constant.
template <class S>
constexpr auto argmax(symbol<S> x) {
    return argmax_channels(reshaped(x, shape<S::count>{}));
}
template <size_t Axis, class S, std::same_as<keepdims_t>... Keep>
constexpr auto argmax(symbol<S> x, Keep... keep) {
    static_assert(detail::axes_to_reduce<S, Axis>::checked);
    if constexpr (!can_reduce_axes<S, Axis>) {
        return x;
    } else {
        constexpr auto kept = detail::some_axes<S, false, Axis>();
        auto const last = detail::reduced_last(x, kept, std::index_sequence<Axis>{});
        auto const places =
            reshaped(argmax_channels(last), decltype(detail::kept_shape<S>(kept)){});
        return detail::kept_or_dropped<Axis>(places, x, keep...);
    }
}
template <size_t... Axis, class S, std::same_as<keepdims_t>... Keep>
constexpr auto argmin(symbol<S> x, Keep... keep) {
    return argmax<Axis...>(-x, keep...);
}

template <Symbol X, class Low, class High>
constexpr auto clip(X x, Low low, High high) {
    return minimum(maximum(x, low), high);
}

template <size_t N>
constexpr symbol<shape<>> dot(symbol<shape<N>> a, symbol<shape<N>> b) {
    return sum(a * b);
}
template <size_t M, size_t N>
constexpr symbol<shape<M, N>> outer(symbol<shape<M>> a, symbol<shape<N>> b) {
    return reshaped(a, shape<M, 1>{}) * reshaped(b, shape<1, N>{});
}

// Products with vectors; a vector counts as a row on the left and as a column on the right.
template <size_t N>
constexpr symbol<shape<>> matmul(symbol<shape<N>> a, symbol<shape<N>> b) {
    return sum(a * b);
}
template <size_t M, size_t N>
constexpr symbol<shape<N>> matmul(symbol<shape<M>> a, symbol<shape<M, N>> b) {
    if constexpr (M == N) {
        if (detail::is_parameter(*a.g, b.id, role::dense_weight)) { // (units, features)
            return detail::matmul<shape<N>>(a, b);
        }
    }
    return reshaped(matmul(reshaped(a, shape<1, M>{}), b), shape<N>{});
}
template <size_t M, size_t N>
constexpr symbol<shape<M>> matmul(symbol<shape<M, N>> a, symbol<shape<N>> b) {
    return reshaped(matmul(a, reshaped(b, shape<N, 1>{})), shape<M>{});
}

// A product with an end, a function of the product.
template <Symbol A, Symbol B, class F>
    requires(!Symbol<F>)
constexpr auto matmul(A a, B b, F const& f) {
    return f(matmul(a, b));
}

// transpose(x) reverses the axes; transpose<2, 0, 1>(x) makes axis 2 the first, 0 the second, ….
template <size_t... Axes, class S>
constexpr auto transpose(symbol<S> x) {
    if constexpr (sizeof...(Axes) > 0) {
        return permute<Axes...>(x);
    } else {
        return [&]<size_t... I>(std::index_sequence<I...>) {
            return permute<(S::rank - 1 - I)...>(x);
        }(std::make_index_sequence<S::rank>{});
    }
}

template <class From, class To>
inline constexpr bool can_broadcast_to =
    From::rank <= To::rank && shapes_agree<From, To> && orders_agree<From, To> &&
    std::is_same_v<To, decltype(detail::broadcast_shape<From, To>(
                           std::make_index_sequence<To::rank>{}))>;

// With missing axes in front, and axes of one element, repeated: features become a sequence of
// equal steps (PyTorch's expand, Keras' RepeatVector).
template <size_t... Extents, class S>
constexpr auto broadcast_to(symbol<S> x) {
    using result =
        detail::shape_in<channels_first<S> ? memory_order::channels_last : memory_order::row_major,
                         Extents...>;
    static_assert(can_broadcast_to<S, result>,
                  "castnet: broadcast_to: a tensor is repeated along axes that it does not have or "
                  "that have one element; see can_broadcast_to<shape found, shape wanted>");
    if constexpr (can_broadcast_to<S, result>) {
        return detail::map_broadcast<fn::add, result>(*x.g, x, 0);
    } else {
        return x;
    }
}

template <size_t Axis, class S>
constexpr auto flip(symbol<S> x) {
    return reverse<Axis>(x);
}

template <class S>
inline constexpr bool has_sums_so_far = S::rank > 0 && !channels_first<S>;

// The sums of the elements so far along the last axis.
template <class S>
constexpr symbol<S> cumsum(symbol<S> x) {
    static_assert(has_sums_so_far<S>, "castnet: cumsum needs a last axis, and no image; see "
                                      "has_sums_so_far<shape>");
    if constexpr (has_sums_so_far<S>) {
        return detail::emit_operation<op::cumulative_sum, S>(*x.g, 1, {detail::sample_id(x)});
    } else {
        return x;
    }
}

template <class S, size_t Axis>
inline constexpr bool can_add_axis = Axis <= S::rank && !channels_first<S>;

// With an additional axis of extent 1 at this place.
template <size_t Axis, class S>
constexpr auto expand_dims(symbol<S> x) {
    static_assert(can_add_axis<S, Axis>,
                  "castnet: expand_dims: the new axis must be at most the rank of the tensor, "
                  "which must not be an image; see can_add_axis<shape, axis>");
    if constexpr (can_add_axis<S, Axis>) {
        return reshaped(
            x, decltype(detail::with_axis<S, Axis, 1>(std::make_index_sequence<S::rank + 1>{})){});
    } else {
        return x;
    }
}

template <class S, size_t Axis>
inline constexpr bool can_squeeze_axis = false;
template <class S, size_t Axis>
    requires(Axis < S::rank)
inline constexpr bool can_squeeze_axis<S, Axis> = S::extent[Axis] == 1 && !channels_first<S>;

// Without an axis whose extent is 1.
template <size_t Axis, class S>
constexpr auto squeeze(symbol<S> x) {
    static_assert(can_squeeze_axis<S, Axis>,
                  "castnet: squeeze: only an axis of extent 1 can be squeezed, and not of an "
                  "image; see can_squeeze_axis<shape, axis>");
    if constexpr (can_squeeze_axis<S, Axis>) {
        return reshaped(x, decltype(detail::kept_shape<S>(detail::some_axes<S, false, Axis>())){});
    } else {
        return x;
    }
}

// The part at position i of an axis, which disappears.
template <size_t Axis, class S>
constexpr auto select(symbol<S> x, size_t i) {
    static_assert(!channels_first<S> || Axis == 0,
                  "castnet: select takes a channel of an image, select<0>(x, i), not a row or a "
                  "column: crop2d takes these");
    x.g->expect(i < S::extent[Axis], mistake::position_beyond_axis);
    using result = decltype(detail::kept_shape<S>(detail::some_axes<S, false, Axis>()));
    return detail::on_rows<op::slice, Axis, result>(x, i);
}

// The main diagonal of a matrix: with a row's length of zeros behind it, its elements are as far
// apart as rows that are longer by one.
template <class S>
constexpr auto diagonal(symbol<S> x) {
    static_assert(S::rank == 2, "castnet: diagonal takes a matrix: a tensor of two axes");
    if constexpr (S::rank == 2) {
        constexpr size_t columns = S::extent[1], length = std::min(S::extent[0], columns);
        auto const elements = reshaped(slice<0, 0, length>(x), shape<length * columns>{});
        return select<1>(reshaped(pad<0, 0, length>(elements), shape<length, columns + 1>{}), 0);
    } else {
        return x;
    }
}

// The square matrix with a vector on its main diagonal and 0 elsewhere.
template <class S>
constexpr auto diag(symbol<S> x) {
    static_assert(S::rank == 1,
                  "castnet: diag takes a vector; the diagonal of a matrix is diagonal(x)");
    if constexpr (S::rank == 1) {
        constexpr size_t n = S::count;
        auto const rows = pad<1, 0, n>(reshaped(x, shape<n, 1>{}));
        return reshaped(slice<0, 0, n * n>(reshaped(rows, shape<n*(n + 1)>{})), shape<n, n>{});
    } else {
        return x;
    }
}

template <class S>
constexpr auto trace(symbol<S> x) {
    return sum(diagonal(x));
}

} // namespace castnet
