// Order along the last axis: sort, argsort, largest, cumsum; and unique of all elements. Computed
// at once. NaN counts as larger than all numbers, as in NumPy.
#pragma once

#include <castnet/tensor/detail/checks.hpp>
#include <castnet/tensor/detail/reduction.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace castnet {

namespace detail {

// Whether a comes before b in ascending order.
struct ascending {
    template <class T>
    constexpr bool operator()(T a, T b) const {
        return a < b || (a == a && b != b);
    }
};

template <class S>
inline constexpr bool has_last_axis = S::rank > 0;

template <size_t Extent, class S, size_t... Axis>
auto with_last(std::index_sequence<Axis...>)
    -> shape<(Axis + 1 == S::rank ? Extent : S::extent[Axis])...>;
template <class S, size_t Extent>
using with_last_extent = decltype(with_last<Extent, S>(std::make_index_sequence<S::rank>{}));

// The positions along the last axis, for each row in the order that arrange(first, last, before)
// makes of them.
template <class V, class Arrange>
auto arranged_positions(V const& values, Arrange const& arrange) {
    constexpr size_t length = V::shape_type::extent[V::shape_type::rank - 1];
    auto places = tensor<size_t, typename V::shape_type>::empty();
    for (size_t row = 0; row != V::size(); row += length) {
        size_t* const first = places.data() + row;
        auto const* const x = values.data() + row;
        std::iota(first, first + length, size_t{0});
        arrange(first, first + length, x);
    }
    return places;
}

} // namespace detail

// The elements of each row in ascending order.
template <TensorExpression X>
auto sort(X const& x) {
    using S = typename X::shape_type;
    static_assert(detail::has_last_axis<S>, "castnet: a tensor of rank 0 has no axis to sort");
    constexpr size_t length = S::extent[S::rank - 1];
    auto values = evaluate(x);
    for (size_t row = 0; row != S::count; row += length) {
        std::sort(values.data() + row, values.data() + row + length, detail::ascending{});
    }
    return values;
}

// The positions that sort each row; equal elements stay in their order.
template <TensorExpression X>
auto argsort(X const& x) {
    using S = typename X::shape_type;
    static_assert(detail::has_last_axis<S>, "castnet: a tensor of rank 0 has no axis to sort");
    auto const values = evaluate(x);
    return detail::arranged_positions(values, [](size_t* first, size_t* last, auto const* row) {
        std::sort(first, last, [row](size_t a, size_t b) {
            return detail::ascending{}(row[a], row[b]) ||
                   (!detail::ascending{}(row[b], row[a]) && a < b);
        });
    });
}

template <class Values, class Indices>
struct largest_values {
    Values values;
    Indices indices; // positions along the last axis
};

// The K largest elements of each row, the largest first (of equals the first), with their
// positions, as torch.topk: auto [values, indices] = largest<5>(scores).
template <size_t K, TensorExpression X>
auto largest(X const& x) {
    using S = typename X::shape_type;
    using T = typename X::value_type;
    static_assert(detail::has_range < S, S::rank == 0 ? 0 : S::rank - 1, 0, K >,
                  "castnet: largest needs at least one element and no more than the last axis has");
    constexpr size_t length = S::extent[S::rank - 1];
    auto const all = evaluate(x);
    auto const places =
        detail::arranged_positions(all, [](size_t* first, size_t* last, auto const* row) {
            std::partial_sort(first, first + K, last, [row](size_t a, size_t b) {
                return detail::ascending{}(row[b], row[a]) ||
                       (!detail::ascending{}(row[a], row[b]) && a < b);
            });
        });
    using part = detail::with_last_extent<S, K>;
    largest_values<tensor<T, part>, tensor<size_t, part>> found;
    for (size_t row = 0; row != S::count / length; ++row) {
        for (size_t k = 0; k != K; ++k) {
            size_t const place = places.data()[row * length + k];
            found.indices.data()[row * K + k] = place;
            found.values.data()[row * K + k] = all.data()[row * length + place];
        }
    }
    return found;
}

// The sums of the elements so far in each row; of integers 64 bits wide.
template <TensorExpression X>
auto cumsum(X const& x) {
    using S = typename X::shape_type;
    using T = typename X::value_type;
    static_assert(detail::has_last_axis<S>, "castnet: a tensor of rank 0 has no axis to sum along");
    constexpr size_t length = S::extent[S::rank - 1];
    auto const values = evaluate(x);
    auto sums = tensor<detail::sum_result<T>, S>::empty();
    for (size_t row = 0; row != S::count; row += length) {
        detail::sum_accumulator<T> total{};
        for (size_t i = row; i != row + length; ++i) {
            total += static_cast<detail::sum_accumulator<T>>(values.data()[i]);
            sums.data()[i] = static_cast<detail::sum_result<T>>(total);
        }
    }
    return sums;
}

// The different elements of a tensor in ascending order.
template <TensorExpression X>
auto unique(X const& x) {
    auto const values = evaluate(x);
    std::vector<typename X::value_type> all(values.begin(), values.end());
    std::sort(all.begin(), all.end(), detail::ascending{});
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

} // namespace castnet
