// Functions of tensors (castnet/tensor/) for symbols, under the same names: reductions along axes,
// products with vectors, transposition, repetition, diagonals, products and largest elements along
// axes. So a function that is written once computes with tensors and is differentiated
// (train/grad.hpp). Images and volumes are only reduced.
#pragma once

#include <castnet/nn/along_axis.hpp>
#include <castnet/nn/axis_reductions.hpp>
#include <castnet/tensor/order.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace castnet {

// As torch.clamp, also where x is a bound: the derivative is 0 there if bounds are numbers, and
// half of it is that of the bound if one is a symbol.
template <Symbol X, class Low, class High>
constexpr auto clip(X x, Low low, High high) {
    if constexpr (std::is_arithmetic_v<Low> && std::is_arithmetic_v<High>) {
        return apply(function<fn::clip>{}, x, low, high);
    } else {
        return minimum(maximum(x, low), high);
    }
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
    if (detail::is_weight_of(*a.g, a.id, b.id)) {
        return detail::times_weight<shape<N>>(a, b, false);
    }
    return reshaped(matmul(reshaped(a, shape<1, M>{}), b), shape<N>{});
}
template <size_t M, size_t N>
constexpr symbol<shape<M>> matmul(symbol<shape<M, N>> a, symbol<shape<N>> b) {
    if (detail::is_weight_of(*a.g, b.id, a.id)) {
        return detail::times_weight<shape<M>>(b, a, true);
    }
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

namespace detail {

// Parts of so many elements, in their logical order, each `Times` times.
template <size_t Times, size_t Part, class To, class S>
constexpr symbol<To> repeat_parts(symbol<S> x) {
    constexpr size_t parts = S::count / Part;
    auto const apart = reshaped(x, row_major_shape<parts, 1, Part>{});
    return reshaped(broadcast_to<parts, Times, Part>(apart), To{});
}

// The elements of the axes from this one on
template <class S, size_t Axis>
inline constexpr size_t elements_from = [] {
    size_t count = 1;
    for (size_t i = Axis; i < S::rank; ++i) {
        count *= S::extent[i];
    }
    return count;
}();

template <size_t Axis, size_t Times, size_t... More, class S>
constexpr auto tile_from(symbol<S> x) {
    using longer = resized<S, Axis, Times * S::extent[Axis]>;
    auto const tiled = repeat_parts<Times, elements_from<S, Axis>, longer>(x);
    if constexpr (sizeof...(More) > 0) {
        return tile_from<Axis + 1, More...>(tiled);
    } else {
        return tiled;
    }
}

} // namespace detail

template <size_t Times>
inline constexpr bool repeats_at_least_once = Times > 0;
template <class S, size_t... Times>
inline constexpr bool tiles_every_axis = sizeof...(Times) == S::rank && S::rank > 0 &&
                                         ((Times > 0) && ...);

// Each position of an axis so many times, one after the other (PyTorch's repeat_interleave): heads
// of keys and values that several heads of queries share.
template <size_t Axis, size_t Times, class S>
constexpr auto repeat_interleave(symbol<S> x) {
    static_assert(tensor_has_axis<S, Axis>, "castnet: repeat_interleave: the tensor has no such "
                                            "axis; see tensor_has_axis<shape, axis>");
    static_assert(repeats_at_least_once<Times>, "castnet: repeat_interleave repeats at least once");
    if constexpr (tensor_has_axis<S, Axis> && repeats_at_least_once<Times>) {
        using longer = detail::resized<S, Axis, Times * S::extent[Axis]>;
        return detail::repeat_parts<Times, detail::elements_from<S, Axis + 1>, longer>(x);
    } else {
        return x;
    }
}

// The tensor so many times along each axis, one number for each, as numpy.tile.
template <size_t... Times, class S>
constexpr auto tile(symbol<S> x) {
    static_assert(tiles_every_axis<S, Times...>,
                  "castnet: tile needs a number, at least 1, for "
                  "each axis; see tiles_every_axis<shape, times...>");
    if constexpr (tiles_every_axis<S, Times...>) {
        return detail::tile_from<0, Times...>(x);
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
        return detail::emit_operation<op::cumulative_sum, S>(*x.g, 1, {detail::array_id(x)});
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

namespace detail {

// The products of rows, half by half, so that their gradients need no division.
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

template <class S, size_t Count>
inline constexpr bool has_largest =
    S::rank > 0 && !channels_first<S> && Count > 0 && Count <= channels_of<S>;

// The largest elements along the last axis and their positions, in descending order, of equal ones
// the first one first (torch.topk): auto const [values, indices] = largest<2>(x). A derivative
// takes positions for constants. Each element takes a pass over the axis.
template <size_t Count, class S>
constexpr auto largest(symbol<S> x) {
    static_assert(has_largest<S, Count>,
                  "castnet: largest needs at least one element and no more than the last axis has, "
                  "of a tensor that is no image; see has_largest<shape, count>");
    if constexpr (has_largest<S, Count>) {
        using one = with_channels<S, 1>;
        auto const numbers = channel_index<shape<channels_of<S>>>(*x.g);
        // Elements that have been found become less than all others, infinite ones, too.
        auto rest = maximum(stop_gradient(x), std::numeric_limits<float>::lowest());
        symbol<one> values[Count], places[Count];
        for (size_t k = 0; k < Count; ++k) {
            places[k] = reshaped(argmax_channels(rest), one{});
            auto const found = equal(numbers, places[k]);
            values[k] = reshaped(sum_channels(where(found, x, 0)), one{});
            rest = where(found, -std::numeric_limits<double>::infinity(), rest);
        }
        return [&]<size_t... K>(std::index_sequence<K...>) {
            if constexpr (Count == 1) {
                return largest_values<symbol<one>, symbol<one>>{values[0], places[0]};
            } else {
                using all = symbol<with_channels<S, Count>>;
                return largest_values<all, all>{concat(values[K]...), concat(places[K]...)};
            }
        }(std::make_index_sequence<Count>{});
    } else {
        return largest_values<symbol<S>, symbol<S>>{x, x};
    }
}

} // namespace castnet
