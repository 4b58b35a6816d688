// Sums of the elements so far along an axis, by default the last one, and differences of
// neighbours: cumsum, diff. Computed at once.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/tensor/detail/reduction.hpp>
#include <castnet/tensor/order.hpp>
#include <castnet/tensor/owning_tensor.hpp>
#include <castnet/tensor/statistics.hpp>
#include <castnet/tensor/views.hpp>

namespace castnet {

namespace detail {

// Adds Count neighbours to the total: to each other first, so that one addition waits for the total
// before. Sums of numbers that are not negative do not fall.
template <size_t Count, class T, class Total>
CASTNET_ALWAYS_INLINE void add_neighbours(T const* numbers, sum_result<T>* sums, Total& total) {
    Total so_far[Count];
    so_far[0] = static_cast<Total>(numbers[0]);
    CASTNET_UNROLL
    for (size_t i = 1; i < Count; ++i) {
        so_far[i] = so_far[i - 1] + static_cast<Total>(numbers[i]);
    }
    CASTNET_UNROLL
    for (size_t i = 0; i < Count; ++i) {
        sums[i] = static_cast<sum_result<T>>(total + so_far[i]);
    }
    total += so_far[Count - 1];
}

template <size_t Length, class T>
void sums_so_far(T const* numbers, sum_result<T>* sums) {
    constexpr size_t few = 4, rest = Length % few;
    sum_accumulator<T> total = 0;
    for (size_t i = 0; i != Length - rest; i += few) {
        add_neighbours<few>(numbers + i, sums + i, total);
    }
    if constexpr (rest > 0) {
        add_neighbours<rest>(numbers + Length - rest, sums + Length - rest, total);
    }
}

// The same of Count columns side by side, rows of which are `step` apart.
template <size_t Length, size_t Count, class T>
void sums_of_columns_so_far(T const* numbers, sum_result<T>* sums, size_t step) {
    sum_accumulator<T> total[Count] = {};
    for (size_t i = 0; i != Length * step; i += step) {
        CASTNET_IVDEP
        for (size_t j = 0; j < Count; ++j) {
            total[j] += static_cast<sum_accumulator<T>>(numbers[i + j]);
            sums[i + j] = static_cast<sum_result<T>>(total[j]);
        }
    }
}

} // namespace detail

// The sums of the elements so far in each row; of integers 64 bits wide.
template <TensorExpression X>
auto cumsum(X const& x) {
    using S = typename X::shape_type;
    using T = typename X::value_type;
    static_assert(detail::has_last_axis<S>, "castnet: a tensor of rank 0 has no axis to sum along");
    constexpr size_t length = S::extent[S::rank - 1];
    auto const values = detail::value_on_host(x);
    auto sums = tensor<detail::sum_result<T>, S>::empty();
    for (size_t row = 0; row != S::count; row += length) {
        detail::sums_so_far<length>(values.data() + row, sums.data() + row);
    }
    return sums;
}

// The same along another axis: cumsum<0>(x) of each column of a matrix.
template <size_t Axis, TensorExpression X>
auto cumsum(X const& x) {
    using S = typename X::shape_type;
    using T = typename X::value_type;
    if constexpr (Axis + 1 == S::rank) {
        return cumsum(x);
    } else if constexpr (!detail::has_axis<S, Axis> || !detail::is_host<typename X::device_type>) {
        return detail::along_axis<Axis>(x, [](auto const& rows) { return cumsum(rows); });
    } else {
        constexpr size_t length = S::extent[Axis], inner = row_major<S>::step[Axis];
        constexpr size_t several = 32, rest = inner % several;
        auto const values = detail::value_on_host(x);
        auto sums = tensor<detail::sum_result<T>, S>::empty();
        for (size_t part = 0; part != S::count; part += length * inner) {
            T const* const from = values.data() + part;
            auto* const to = sums.data() + part;
            for (size_t j = 0; j != inner - rest; j += several) {
                detail::sums_of_columns_so_far<length, several>(from + j, to + j, inner);
            }
            if constexpr (rest > 0) {
                detail::sums_of_columns_so_far<length, rest>(from + inner - rest, to + inner - rest,
                                                             inner);
            }
        }
        return sums;
    }
}

// The differences of neighbours along an axis, by default the last one, as numpy.diff.
template <size_t Axis, TensorExpression X>
auto diff(X const& x) {
    using S = typename X::shape_type;
    static_assert(detail::has_axis<S, Axis>, "castnet: the tensor has no such axis");
    static_assert(S::extent[Axis] > 1, "castnet: diff needs two elements along its axis at least");
    auto const values = detail::kept_values(x);
    return evaluate(slice<Axis, 1, S::extent[Axis]>(values) -
                    slice<Axis, 0, S::extent[Axis] - 1>(values));
}
template <TensorExpression X>
auto diff(X const& x) {
    static_assert(X::shape_type::rank > 0, "castnet: a tensor of rank 0 has no axes");
    return diff<X::shape_type::rank - 1>(x);
}

} // namespace castnet
