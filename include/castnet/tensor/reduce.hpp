// Reductions over all axes, sum(x), or over some, sum<0, 2>(x): sum, mean, prod, min, max, argmin,
// argmax. They are computed at once; an expression as argument is computed on the way, not stored.
//
// Over all axes the answer is a number. Over some it is a tensor without these axes, or, with a
// second argument `keepdims`, with extent 1 there.
//
// As in NumPy, sums and products of integers are 64 bits wide, the mean of integers is a double,
// and a NaN is the maximum and the minimum of what it is in. argmin and argmax give the first place
// (over several axes: counted in row-major order).
#pragma once

#include <castnet/tensor/detail/checks.hpp>
#include <castnet/tensor/detail/loop.hpp>
#include <castnet/tensor/detail/reduction.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <concepts>

namespace castnet {

struct keepdims_t {};
inline constexpr keepdims_t keepdims{};

namespace detail {

template <size_t... Axes>
constexpr bool is_one_of(size_t axis) {
    return ((axis == Axes) || ...);
}

// The kept part has extent 1 on the reduced axes; the reduced part has extent 1 on all others.
template <class S, bool Reduced, size_t... Axes, size_t... I>
auto part_of(std::index_sequence<Axes...>, std::index_sequence<I...>)
    -> shape<(is_one_of<Axes...>(I) == Reduced ? S::extent[I] : 1)...>;

template <class S>
struct drop_axes {
    template <size_t Axis, size_t... D>
    static auto front(shape<D...>) -> shape<S::extent[Axis], D...>;

    template <size_t Axis, size_t... Axes>
    static constexpr auto from() {
        if constexpr (Axis == S::rank) {
            return shape<>{};
        } else if constexpr (is_one_of<Axes...>(Axis)) {
            return from<Axis + 1, Axes...>();
        } else {
            return decltype(front<Axis>(from<Axis + 1, Axes...>())){};
        }
    }
};

template <template <class> class Reduction, size_t... Axes, class X>
auto reduce_to_kept(X const& x, std::index_sequence<Axes...> axes) {
    using S = typename X::shape_type;
    using reduction = Reduction<typename X::value_type>;
    using every_axis = std::make_index_sequence<S::rank>;
    using kept = decltype(part_of<S, false>(axes, every_axis{}));
    using reduced = decltype(part_of<S, true>(axes, every_axis{}));

    tensor<typename reduction::result, kept> result;
    if constexpr (S::rank == 0) {
        reduction one;
        one.add(x.element(), 0);
        result() = one.get(1);
    } else if constexpr (kept::extent[S::rank - 1] == 1) {
        constexpr size_t length = S::extent[S::rank - 1];
        for_each_row<kept>([&](auto... row) {
            reduction total;
            size_t position = 0;
            for_each_row<reduced>([&](auto... at) {
                reduction longer = total; // a local copy stays in registers
                for (size_t i = 0; i < length; ++i) {
                    longer.add(x.element((row + at)..., i), position + i);
                }
                total = longer;
                position += length;
            });
            result(row..., size_t{0}) = total.get(reduced::count);
        });
    } else {
        // Neighbours on the last axis are reduced together, so that memory is read in order.
        constexpr size_t width = S::extent[S::rank - 1];
        constexpr size_t block = width < 64 ? width : 64;
        for_each_row<kept>([&](auto... row) {
            for (size_t begin = 0; begin < width; begin += block) {
                size_t const count = width - begin < block ? width - begin : block;
                reduction totals[block];
                size_t position = 0;
                for_each_row<reduced>([&](auto... at) {
                    for (size_t j = 0; j < count; ++j) {
                        totals[j].add(x.element((row + at)..., begin + j), position);
                    }
                    ++position;
                });
                for (size_t j = 0; j < count; ++j) {
                    result(row..., begin + j) = totals[j].get(reduced::count);
                }
            }
        });
    }
    return result;
}

template <template <class> class Reduction, size_t... Axes, class X, class... Keep>
auto reduce(X const& x, Keep...) {
    using S = typename X::shape_type;
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
    } else {
        return reduce_to_kept<Reduction>(x, std::make_index_sequence<S::rank>{}).data()[0];
    }
}

template <class T>
using min_reduction = extreme_value<T, -1>;
template <class T>
using max_reduction = extreme_value<T, 1>;
template <class T>
using argmin_reduction = extreme_place<T, -1>;
template <class T>
using argmax_reduction = extreme_place<T, 1>;

} // namespace detail

template <size_t... Axes, TensorExpression X, std::same_as<keepdims_t>... Keep>
auto sum(X const& x, Keep... keep) {
    return detail::reduce<detail::sum_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, std::same_as<keepdims_t>... Keep>
auto mean(X const& x, Keep... keep) {
    return detail::reduce<detail::mean_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, std::same_as<keepdims_t>... Keep>
auto prod(X const& x, Keep... keep) {
    return detail::reduce<detail::product_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, std::same_as<keepdims_t>... Keep>
auto min(X const& x, Keep... keep) {
    return detail::reduce<detail::min_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, std::same_as<keepdims_t>... Keep>
auto max(X const& x, Keep... keep) {
    return detail::reduce<detail::max_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, std::same_as<keepdims_t>... Keep>
auto argmin(X const& x, Keep... keep) {
    return detail::reduce<detail::argmin_reduction, Axes...>(x, keep...);
}

template <size_t... Axes, TensorExpression X, std::same_as<keepdims_t>... Keep>
auto argmax(X const& x, Keep... keep) {
    return detail::reduce<detail::argmax_reduction, Axes...>(x, keep...);
}

} // namespace castnet
