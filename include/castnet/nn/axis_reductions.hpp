// Reductions along axes for symbols, under the names that they have for tensors: sums, means,
// extrema, norms, variances, logsumexp, argmax. Axis 0 of an image or volume is its channels; with
// keepdims it stays one, and so do all axes, where none are named.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/nn/permute.hpp>
#include <castnet/tensor/negative_axes.hpp>
#include <castnet/tensor/reduce.hpp>

#include <utility>

namespace castnet {

template <class S, size_t... Axes>
inline constexpr bool can_reduce_axes = detail::has_distinct_axes<S, Axes...>;

namespace detail {

template <class S, size_t... Axes>
struct axes_to_reduce {
    static_assert(can_reduce_axes<S, Axes...>,
                  "castnet: a reduction along axes needs axes that the tensor has, each once; see "
                  "can_reduce_axes<shape, axes...>");
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

// reduce, a reduction of row-major tensors along axes, of an image or volume: of its axes as they
// lie in memory, where the channels, the first axis, are the last one.
template <size_t... Axes, class S, class F>
constexpr auto reduce_in_memory(symbol<S> x, F const& reduce) {
    return [&]<size_t... Pixel>(std::index_sequence<Pixel...>) {
        using lying = row_major_shape<S::extent[Pixel + 1]..., S::extent[0]>;
        symbol<lying> const all{x.g, seen_as(*x.g, array_id(x), ir::space_of<lying>)};
        auto const reduced =
            reduce(all, std::index_sequence<(Axes + sizeof...(Pixel)) % S::rank...>{});
        constexpr size_t rank = decltype(reduced)::shape_type::rank;
        if constexpr (is_one_of<Axes...>(0) || rank < 2) {
            return reduced;
        } else {
            return [&]<size_t... I>(std::index_sequence<I...>) {
                return permute<(I + rank - 1) % rank...>(reduced);
            }(std::make_index_sequence<rank>{});
        }
    }(std::make_index_sequence<S::rank - 1>{});
}

// Kernels reduce rows of features or all rows to one; other axes move after the rest first.
template <size_t... Axes, class S>
constexpr auto reduce_axes(symbol<S> x, ir::reduction kind, double factor = 1) {
    static_assert(axes_to_reduce<S, Axes...>::checked);
    if constexpr (!can_reduce_axes<S, Axes...>) {
        return x;
    } else if constexpr (channels_first<S>) {
        return reduce_in_memory<Axes...>(x,
                                         [&]<size_t... A>(auto lying, std::index_sequence<A...>) {
                                             return reduce_axes<A...>(lying, kind, factor);
                                         });
    } else {
        constexpr auto kept = some_axes<S, false, Axes...>();
        using result = decltype(kept_shape<S>(kept));
        constexpr auto rest = static_cast<int>(result::count);
        constexpr auto count = static_cast<int>(S::count / result::count);
        constexpr bool first = ((Axes < sizeof...(Axes)) && ...);
        bool const of_samples = any_of_samples(x);
        int id = array_id(x);
        if constexpr (!first) {
            id = reduced_last(x, kept, some_axes<S, true, Axes...>()).id;
        }
        ir::graph& g = *x.g;
        int const rows = seen_as(g, id, {true, first ? count : rest, first ? rest : count});
        ir::extents const to{of_samples, first ? 1 : rest, first ? rest : 1};
        int const all = g.push(reduce_node(rows, kind, to, factor));
        return symbol<result>{&g, seen_as(g, all, ir::space_of<result>)};
    }
}

template <size_t... Axes, class S, class R>
constexpr auto keep_axes(symbol<R> x, symbol<S>) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
        return reshaped(x, shape_in<order_of<S>, (is_one_of<Axes...>(I) ? 1 : S::extent[I])...>{});
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

// Result of a reduction over all of x, with as many axes as x has.
template <class S>
constexpr auto keep_all_axes(symbol<shape<>> reduced, symbol<S> x) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
        return keep_axes<I...>(reduced, x);
    }(std::make_index_sequence<S::rank>{});
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
// Several equal maxima share the gradient, as in PyTorch's amax.
template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
    requires(sizeof...(Axes) > 0)
constexpr auto max(symbol<S> x, Keep... keep) {
    return detail::kept_or_dropped<Axes...>(detail::reduce_axes<Axes...>(x, ir::reduction::max), x,
                                            keep...);
}

// Over all axes.
template <class S>
constexpr auto sum(symbol<S> x, keepdims_t) {
    return detail::keep_all_axes(sum(x), x);
}
template <class S>
constexpr auto mean(symbol<S> x, keepdims_t) {
    return detail::keep_all_axes(mean(x), x);
}
template <class S>
constexpr auto max(symbol<S> x, keepdims_t) {
    return detail::keep_all_axes(max(x), x);
}

// For what is no keepdims: fails with a message.
#define CASTNET_REDUCTION_TAKES(function)                                                          \
    template <size_t... Axes, class S, class Given>                                                \
        requires(!std::same_as<Given, keepdims_t>)                                                 \
    constexpr auto function(symbol<S> x, Given const&) {                                           \
        static_assert(reduction_takes<Given>::checked);                                            \
        return x;                                                                                  \
    }
CASTNET_REDUCTION_TAKES(sum)
CASTNET_REDUCTION_TAKES(mean)
CASTNET_REDUCTION_TAKES(max)
CASTNET_REDUCTION_TAKES(min)
CASTNET_REDUCTION_TAKES(norm)
CASTNET_REDUCTION_TAKES(variance)
CASTNET_REDUCTION_TAKES(standard_deviation)
CASTNET_REDUCTION_TAKES(logsumexp)
CASTNET_REDUCTION_TAKES(argmax)
CASTNET_REDUCTION_TAKES(argmin)
#undef CASTNET_REDUCTION_TAKES

template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
constexpr auto min(symbol<S> x, Keep... keep) {
    return -max<Axes...>(-x, keep...);
}

template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
constexpr auto norm(symbol<S> x, Keep... keep) {
    return detail::root_of_sum(sum<Axes...>(square(x), keep...));
}

template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
constexpr auto variance(symbol<S> x, Keep... keep) {
    if constexpr (sizeof...(Axes) == 0) {
        return mean(square(x - mean(x)), keep...);
    } else {
        return mean<Axes...>(square(x - mean<Axes...>(x, keepdims)), keep...);
    }
}
template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
constexpr auto standard_deviation(symbol<S> x, Keep... keep) {
    return detail::root_of_sum(variance<Axes...>(x, keep...));
}

template <size_t... Axes, class S, std::same_as<keepdims_t>... Keep>
constexpr auto logsumexp(symbol<S> x, [[maybe_unused]] Keep... keep) {
    auto const finite = [](auto largest) {
        return stop_gradient(where(isfinite(largest), largest, 0));
    };
    if constexpr (sizeof...(Axes) == 0) {
        auto const centre = finite(max(x));
        return log(sum(exp(x - centre), keep...)) + centre;
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
template <class S>
constexpr auto argmax(symbol<S> x, keepdims_t) {
    return detail::keep_all_axes(argmax(x), x);
}
template <size_t Axis, class S, std::same_as<keepdims_t>... Keep>
constexpr auto argmax(symbol<S> x, Keep... keep) {
    static_assert(detail::axes_to_reduce<S, Axis>::checked);
    if constexpr (!can_reduce_axes<S, Axis>) {
        return x;
    } else if constexpr (channels_first<S>) {
        auto const places = detail::reduce_in_memory<Axis>(
            x, []<size_t A>(auto lying, std::index_sequence<A>) { return argmax<A>(lying); });
        return detail::kept_or_dropped<Axis>(places, x, keep...);
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

} // namespace castnet
