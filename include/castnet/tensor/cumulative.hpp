// Sums and products of the elements so far along an axis, by default the last one, and differences
// of neighbours: cumsum, cumprod, diff. Computed at once.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/tensor/detail/lanes.hpp>
#include <castnet/tensor/detail/reduction.hpp>
#include <castnet/tensor/order.hpp>
#include <castnet/tensor/owning_tensor.hpp>
#include <castnet/tensor/statistics.hpp>
#include <castnet/tensor/views.hpp>

#include <algorithm>

namespace castnet {

namespace detail {

// Joins Count neighbours to the total: to each other first, so that one operation waits for the
// total before. Sums of numbers that are not negative do not fall.
template <size_t Count, class T, class Total, class Join>
CASTNET_ALWAYS_INLINE void join_neighbours(T const* numbers, sum_result<T>* totals, Total& total,
                                           Join const& join) {
    Total so_far[Count];
    so_far[0] = static_cast<Total>(numbers[0]);
    CASTNET_UNROLL
    for (size_t i = 1; i < Count; ++i) {
        so_far[i] = so_far[i - 1];
        join(so_far[i], static_cast<Total>(numbers[i]));
    }
    CASTNET_UNROLL
    for (size_t i = 0; i < Count; ++i) {
        Total joined = total;
        join(joined, so_far[i]);
        totals[i] = static_cast<sum_result<T>>(joined);
    }
    join(total, so_far[Count - 1]);
}

template <size_t Length, class T, class Join>
void totals_so_far(T const* numbers, sum_result<T>* totals, sum_accumulator<T> total,
                   Join const& join) {
    constexpr size_t few = 4, rest = Length % few;
    for (size_t i = 0; i != Length - rest; i += few) {
        join_neighbours<few>(numbers + i, totals + i, total, join);
    }
    if constexpr (rest > 0) {
        join_neighbours<rest>(numbers + Length - rest, totals + Length - rest, total, join);
    }
}

// The same of Count columns side by side, rows of which are `step` apart.
template <size_t Length, size_t Count, class T, class Join>
void totals_of_columns_so_far(T const* __restrict numbers, sum_result<T>* __restrict totals,
                              size_t step, sum_accumulator<T> neutral, Join const& join) {
    sum_accumulator<T> total[Count];
    std::fill_n(total, Count, neutral);
    for (size_t i = 0; i != Length * step; i += step) {
        CASTNET_IVDEP
        for (size_t j = 0; j < Count; ++j) {
            join(total[j], static_cast<sum_accumulator<T>>(numbers[i + j]));
            totals[i + j] = static_cast<sum_result<T>>(total[j]);
        }
    }
}

// The same for the sums of up to 256 floats, which are made as in a reduction: of sums of sixteen.
template <size_t Length, size_t Count>
void totals_of_columns_so_far(float const* __restrict numbers, float* __restrict totals,
                              size_t step, double, add_to const&)
    requires(Length <= 256)
{
    constexpr size_t few = 16;
    float total[Count] = {};
    for (size_t first = 0; first < Length; first += few) {
        size_t const end = std::min(first + few, Length) * step;
        float some[Count] = {};
        for (size_t i = first * step; i != end; i += step) {
            CASTNET_IVDEP
            for (size_t j = 0; j < Count; ++j) {
                some[j] += numbers[i + j];
                totals[i + j] = total[j] + some[j];
            }
        }
        for (size_t j = 0; j < Count; ++j) {
            total[j] += some[j];
        }
    }
}

// What the elements so far are joined to, from `neutral` on, along an axis.
template <size_t Axis, class X, class Join>
auto joined_so_far(X const& x, int neutral, Join const& join) {
    using S = typename X::shape_type;
    using T = typename X::value_type;
    static_assert(has_axis<S, Axis>, "castnet: the tensor has no such axis");
    constexpr size_t axis = has_axis<S, Axis> ? Axis : 0; // (so that this mistake is one error)
    constexpr size_t length = S::extent[axis], inner = row_major<S>::step[axis];
    constexpr size_t several = std::min(inner, size_t{256}), rest = inner % several;
    auto const start = static_cast<sum_accumulator<T>>(neutral);
    auto const values = values_on_host(x);
    auto totals = tensor<sum_result<T>, S>::empty();
    for (size_t part = 0; part != S::count; part += length * inner) {
        T const* const from = values.data() + part;
        auto* const to = totals.data() + part;
        if constexpr (inner == 1) {
            totals_so_far<length>(from, to, start, join);
        } else {
            for (size_t j = 0; j != inner - rest; j += several) {
                totals_of_columns_so_far<length, several>(from + j, to + j, inner, start, join);
            }
            if constexpr (rest > 0) {
                totals_of_columns_so_far<length, rest>(from + inner - rest, to + inner - rest,
                                                       inner, start, join);
            }
        }
    }
    return totals;
}

} // namespace detail

// The sums of the elements so far in each row; of integers 64 bits wide.
template <TensorExpression X>
auto cumsum(X const& x) {
    static_assert(detail::has_last_axis<typename X::shape_type>,
                  "castnet: a tensor of rank 0 has no axis to sum along");
    return detail::joined_so_far<X::shape_type::rank - 1>(x, 0, detail::plus);
}

// The same along another axis: cumsum<0>(x) of each column of a matrix.
template <size_t Axis, TensorExpression X>
auto cumsum(X const& x) {
    if constexpr (Axis + 1 == X::shape_type::rank) {
        return cumsum(x);
    } else if constexpr (!detail::is_host<typename X::device_type>) {
        return detail::along_axis<Axis>(x, [](auto const& rows) { return cumsum(rows); });
    } else {
        return detail::joined_so_far<Axis>(x, 0, detail::plus);
    }
}

// The products of the elements so far, as cumsum: in each row, or along another axis.
template <size_t Axis, TensorExpression X>
auto cumprod(X const& x) {
    return detail::joined_so_far<Axis>(x, 1, detail::multiplies);
}
template <TensorExpression X>
auto cumprod(X const& x) {
    static_assert(detail::has_last_axis<typename X::shape_type>,
                  "castnet: a tensor of rank 0 has no axis to multiply along");
    return cumprod<X::shape_type::rank - 1>(x);
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
