// Reductions over all axes, sum(x), or over some, sum<0, 2>(x): sum, mean, prod, min, max, argmin,
// argmax, any, all. They are computed at once; an expression as argument is computed on the way,
// not stored.
//
// Over all axes the answer is a number, or on a GPU a tensor of no axes. Over some it is a tensor
// without these axes, or, with a second argument `keepdims`, with extent 1 there.
//
// The order of additions depends on the shape and on how the elements lie in memory, and on nothing
// else. As in NumPy, sums and products of integers are 64 bits wide, the mean of integers is a
// double, and a NaN is the maximum and the minimum of what it is in. argmin and argmax give the
// first place (over several axes: counted in row-major order). any and all, which are bool, tell
// whether elements are not 0, as NaN is not.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/tensor/detail/checks.hpp>
#include <castnet/tensor/detail/evaluate.hpp>
#include <castnet/tensor/detail/memory_order.hpp>
#include <castnet/tensor/detail/merged_axes.hpp>
#include <castnet/tensor/detail/reduce_in_loops.hpp>
#include <castnet/tensor/detail/repeated_operands.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace castnet {

struct keepdims_t {};
inline constexpr keepdims_t keepdims{};

// A class, so that every compiler prints the types.
template <class... Given>
struct reduction_takes {
    static_assert((std::same_as<Given, keepdims_t> && ...) && sizeof...(Given) < 2,
                  "castnet: a reduction takes its axes as template arguments, as in sum<0>(x), and "
                  "after the tensor nothing but keepdims; of two tensors there are minimum and "
                  "maximum; see reduction_takes<given...>");
    static constexpr bool checked = true;
};

namespace detail {

// Whether x is better reduced in the order in which its elements lie in memory. (Places over
// several axes are counted in its own.)
template <class R, class X, size_t Axes>
constexpr bool reduces_in_memory_order() {
    constexpr bool any_order = requires { typename R::part; };
    return (any_order || Axes == 1) && !std::is_void_v<other_order_t<X>>;
}

// Whether x is an array of bool that is as well reduced as one of small numbers, in their vectors.
template <template <class, size_t> class Reduction, class X>
constexpr bool is_reduced_as_numbers() {
    using T = typename X::value_type;
    return std::is_same_v<T, bool> && requires { typename X::strides_type; } &&
           std::is_same_v<typename Reduction<T, 1>::result,
                          typename Reduction<std::int8_t, 1>::result>;
}

// The same with neighbouring axes as one, where they lie so.
template <template <class, size_t> class Reduction, class X, size_t... Axes>
CASTNET_ALWAYS_INLINE auto reduce_merged(X const& x, std::index_sequence<Axes...> axes) {
    using S = typename X::shape_type;
    using merged_type = merged_axes<S, X, Axes...>;
    if constexpr (!X::is_flat && merges_axes<merged_type, S> &&
                  merged<merged_type>.count_of_reduced() > 0) {
        auto result = reduce_in_loops<Reduction>(with_merged_axes<merged_type, S>(x),
                                                 reduced_of<merged_type>());
        using kept = decltype(part_of<S, false>(axes, std::make_index_sequence<S::rank>{}));
        return std::move(result).template as<kept>();
    } else {
        return reduce_in_loops<Reduction>(x, axes);
    }
}

// Not within its caller, as what takes a few instructions is.
template <template <class, size_t> class Reduction, class X, size_t... Axes>
auto reduce_many(X const& x, std::index_sequence<Axes...> axes) {
    return reduce_merged<Reduction>(x, axes);
}

// The same on any device.
template <template <class, size_t> class Reduction, class X, size_t... Axes>
CASTNET_ALWAYS_INLINE auto reduce_to_kept(X const& x, std::index_sequence<Axes...> axes) {
    using T = typename X::value_type;
    if constexpr (!is_host<typename X::device_type>) {
        return X::device_type::template reduce<Reduction>(x, axes);
    } else if constexpr (is_reduced_as_numbers<Reduction, X>()) {
        using numbers =
            tensor_view<std::int8_t const, typename X::shape_type, typename X::strides_type>;
        return reduce_to_kept<Reduction>(numbers{reinterpret_cast<std::int8_t const*>(x.data())},
                                         axes);
    } else if constexpr (reduces_in_memory_order<Reduction<T, 1>, X, sizeof...(Axes)>()) {
        using every = std::make_index_sequence<X::shape_type::rank>;
        using view = other_order_t<X>;
        using places = decltype(found_in_memory<view>(every{}));
        auto result = reduce_in_loops<Reduction>(
            operand_with_axes(x, decltype(in_memory_order<view>(every{})){}),
            decltype(found_in_memory<view>(axes)){});
        auto const turned = with_axes(result.view(), places{});
        using V = std::remove_const_t<decltype(turned)>;
        if constexpr (V::is_flat) {
            return std::move(result).template as<typename V::shape_type>();
        } else {
            return evaluate(turned);
        }
    } else {
        return with_repeated_computed<X::size()>(
            x, [&](auto const& computed) __attribute__((always_inline)) {
                if constexpr (X::size() <= most_at_once) {
                    return reduce_merged<Reduction>(computed, axes);
                } else {
                    return reduce_many<Reduction>(computed, axes);
                }
            });
    }
}

template <template <class, size_t> class Reduction, size_t... Axes, class X, class... Keep>
CASTNET_ALWAYS_INLINE auto reduce(X const& x, Keep...) {
    using S = typename X::shape_type;
    static_assert(reduction_takes<Keep...>::checked);
    static_assert(has_distinct_axes<S, Axes...>,
                  "castnet: a reduction needs different axes, each less than the tensor's rank");
    if constexpr (sizeof...(Keep) > 0 && sizeof...(Axes) > 0) {
        return reduce_to_kept<Reduction>(x, std::index_sequence<Axes...>{});
    } else if constexpr (sizeof...(Axes) > 0) {
        using dropped = decltype(drop_axes<S>::template from<0, Axes...>());
        auto result = reduce_to_kept<Reduction>(x, std::index_sequence<Axes...>{});
        return std::move(result).template as<dropped>();
    } else if constexpr (sizeof...(Keep) > 0) {
        return reduce_to_kept<Reduction>(x, std::make_index_sequence<S::rank>{});
    } else if constexpr (is_host<typename X::device_type>) {
        return reduce_to_kept<Reduction>(x, std::make_index_sequence<S::rank>{}).data()[0];
    } else {
        auto result = reduce_to_kept<Reduction>(x, std::make_index_sequence<S::rank>{});
        return std::move(result).template as<shape<>>();
    }
}

template <class T, size_t Lanes>
using min_reduction = extreme_value<T, Lanes, -1>;
template <class T, size_t Lanes>
using max_reduction = extreme_value<T, Lanes, 1>;
template <class T, size_t Lanes>
using argmin_reduction = extreme_place<T, Lanes, -1>;
template <class T, size_t Lanes>
using argmax_reduction = extreme_place<T, Lanes, 1>;
template <class T, size_t Lanes>
using any_reduction = truth<T, Lanes, true>;
template <class T, size_t Lanes>
using all_reduction = truth<T, Lanes, false>;

} // namespace detail

template <size_t... Axes, TensorExpression X, class... Keep>
CASTNET_ALWAYS_INLINE auto sum(X const& x, Keep... keep) {
    return detail::reduce<detail::sum_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, class... Keep>
CASTNET_ALWAYS_INLINE auto mean(X const& x, Keep... keep) {
    return detail::reduce<detail::mean_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, class... Keep>
CASTNET_ALWAYS_INLINE auto prod(X const& x, Keep... keep) {
    return detail::reduce<detail::product_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, class... Keep>
CASTNET_ALWAYS_INLINE auto min(X const& x, Keep... keep) {
    return detail::reduce<detail::min_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, class... Keep>
CASTNET_ALWAYS_INLINE auto max(X const& x, Keep... keep) {
    return detail::reduce<detail::max_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, class... Keep>
CASTNET_ALWAYS_INLINE auto argmin(X const& x, Keep... keep) {
    return detail::reduce<detail::argmin_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, class... Keep>
CASTNET_ALWAYS_INLINE auto argmax(X const& x, Keep... keep) {
    return detail::reduce<detail::argmax_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, class... Keep>
CASTNET_ALWAYS_INLINE auto any(X const& x, Keep... keep) {
    return detail::reduce<detail::any_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, class... Keep>
CASTNET_ALWAYS_INLINE auto all(X const& x, Keep... keep) {
    return detail::reduce<detail::all_reduction, Axes...>(x, keep...);
}

} // namespace castnet
