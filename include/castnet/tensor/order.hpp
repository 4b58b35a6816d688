// Order along an axis, by default the last one: sort, argsort, largest; of all elements: unique,
// nonzero, masked_select; and searchsorted. Computed at once, on the host. NaN counts as larger
// than all numbers, as in NumPy.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/tensor/detail/checks.hpp>
#include <castnet/tensor/detail/find_largest.hpp>
#include <castnet/tensor/detail/reduction.hpp>
#include <castnet/tensor/detail/sort.hpp>
#include <castnet/tensor/detail/value_counts.hpp>
#include <castnet/tensor/owning_tensor.hpp>
#include <castnet/tensor/statistics.hpp>

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

namespace castnet {

namespace detail {

// The elements of an expression of the host in row-major order, where they lie or computed. (After
// the complaint of another, go on with its copy.)
template <class X>
auto values_on_host(X const& x) {
    constexpr bool on_host = is_host<typename X::device_type>;
    static_assert(on_host, "castnet: this is for tensors of the host: copy the tensor, with "
                           "to<device::cpu>(x), or include castnet/device/cuda/tensor/order.hpp");
    if constexpr (on_host) {
        return factor<typename X::value_type, factor_order::rows>(x);
    } else {
        return to<device::cpu>(x);
    }
}
// A copy of them.
template <class X>
auto copy_on_host(X const& x) {
    return evaluate(values_on_host(x));
}

// Whether a comes before b in ascending order.
struct ascending {
    template <class T>
    CASTNET_HD constexpr bool operator()(T a, T b) const {
        return a < b || (a == a && b != b);
    }
};

template <size_t Extent, class S, size_t... Axis>
auto with_last(std::index_sequence<Axis...>)
    -> shape<(Axis + 1 == S::rank ? Extent : S::extent[Axis])...>;
template <class S, size_t Extent>
using with_last_extent = decltype(with_last<Extent, S>(std::make_index_sequence<S::rank>{}));

// The axes of a view with one of them and the last one exchanged.
template <size_t Axis, class T, class S, class Strides, class Device>
auto with_axis_last(tensor_view<T, S, Strides, Device> x) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
        return with_axes(x, std::index_sequence<(I == Axis          ? S::rank - 1
                                                 : I + 1 == S::rank ? Axis
                                                                    : I)...>{});
    }(std::make_index_sequence<S::rank>{});
}

// f(x) along another axis than the last one, of an f whose result has the axes of x.
template <size_t Axis, class X, class F>
auto along_axis(X const& x, F const& f) {
    static_assert(has_axis<typename X::shape_type, Axis>, "castnet: the tensor has no such axis");
    auto const values = kept_values(x);
    auto const found = f(with_axis_last<Axis>(view_of(values)));
    return evaluate(with_axis_last<Axis>(found.view()));
}

} // namespace detail

// The elements of each row in ascending order.
template <TensorExpression X>
auto sort(X const& x) {
    using S = typename X::shape_type;
    static_assert(detail::has_last_axis<S>, "castnet: a tensor of rank 0 has no axis to sort");
    constexpr size_t length = S::extent[S::rank - 1];
    auto values = detail::copy_on_host(x);
    auto* const all = values.data();
    using key = detail::sort_key<typename X::value_type>;
    using key_type = typename key::type;
    detail::sort_rows<length, key_type, detail::whole_key<key_type>>(
        S::count / length, [all](size_t row, size_t i) { return key::of(all[row + i]); },
        [all](size_t row, size_t i, key_type k) { all[row + i] = key::number(k); });
    return values;
}

// The same along another axis: sort<0>(x) sorts each column of a matrix.
template <size_t Axis, TensorExpression X>
auto sort(X const& x) {
    return detail::along_axis<Axis>(x, [](auto const& rows) { return sort(rows); });
}

// The positions that sort each row; equal elements stay in their order.
template <TensorExpression X>
auto argsort(X const& x) {
    using S = typename X::shape_type;
    static_assert(detail::has_last_axis<S>, "castnet: a tensor of rank 0 has no axis to sort");
    using T = typename X::value_type;
    using item = detail::placed_key<T>;
    constexpr size_t length = S::extent[S::rank - 1];
    auto const values = detail::values_on_host(x);
    auto places = tensor<size_t, S>::empty();
    detail::sort_rows<length, item, detail::key_without_place<T>>(
        S::count / length,
        [all = values.data()](size_t row, size_t i) {
            return detail::item_at<false>(all[row + i], i);
        },
        [all = places.data()](size_t row, size_t i, item const& found) {
            all[row + i] = detail::place_of(found);
        });
    return places;
}

template <size_t Axis, TensorExpression X>
auto argsort(X const& x) {
    return detail::along_axis<Axis>(x, [](auto const& rows) { return argsort(rows); });
}

template <class Values, class Indices>
struct largest_values {
    Values values;
    Indices indices; // positions along the axis
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
    auto const all = detail::values_on_host(x);
    using part = detail::with_last_extent<S, K>;
    largest_values<tensor<T, part>, tensor<size_t, part>> found;
    T const* const numbers = all.data();
    detail::find_largest<K, length>(numbers, S::count / length,
                                    [&](size_t row, size_t k, size_t place) {
                                        size_t const at = row / length * K + k;
                                        found.indices.data()[at] = place;
                                        found.values.data()[at] = numbers[row + place];
                                    });
    return found;
}

template <size_t K, size_t Axis, TensorExpression X>
auto largest(X const& x) {
    using S = typename X::shape_type;
    static_assert(detail::has_axis<S, Axis>, "castnet: the tensor has no such axis");
    auto const values = detail::kept_values(x);
    auto const found = largest<K>(detail::with_axis_last<Axis>(detail::view_of(values)));
    auto const turned = [](auto const& part) {
        return evaluate(detail::with_axis_last<Axis>(part.view()));
    };
    return largest_values<decltype(turned(found.values)), decltype(turned(found.indices))>{
        turned(found.values), turned(found.indices)};
}

namespace detail {

// Numbers in ascending order without those that are equal to the one before, or NaN as that is.
template <class T>
std::vector<T> without_repeats(std::vector<T> ordered) {
    auto const same = [](T a, T b) { return a == b || (a != a && b != b); };
    ordered.erase(std::unique(ordered.begin(), ordered.end(), same), ordered.end());
    return ordered;
}

} // namespace detail

// The different elements of a tensor in ascending order; of all NaN one.
template <TensorExpression X>
auto unique(X const& x) {
    using T = typename X::value_type;
    if constexpr (detail::counts_values<T, X::shape_type::count>) {
        auto const all = detail::values_on_host(x);
        auto const counts = detail::counts_of_values(all.data(), all.size());
        std::vector<T> values;
        for (size_t key = 0; key != counts.size(); ++key) {
            if (counts[key] > 0) {
                values.push_back(detail::value_of_count<T>(key));
            }
        }
        return values;
    } else {
        auto const values = sort(detail::copy_on_host(x).template as<shape<X::size()>>());
        return detail::without_repeats(std::vector<T>(values.begin(), values.end()));
    }
}

namespace detail {

// value(i) for the places i where `chosen` is not 0, without a jump for each.
template <class Chosen, class Value>
auto selected(Chosen const* chosen, size_t count, Value const& value) {
    size_t many = 0;
    for (size_t i = 0; i != count; ++i) {
        many += chosen[i] != 0 ? 1 : 0;
    }
    std::vector<decltype(value(0))> found(many + 1);
    auto* next = found.data();
    for (size_t i = 0; i != count; ++i) {
        *next = value(i);
        next += chosen[i] != 0 ? 1 : 0;
    }
    found.pop_back();
    return found;
}

} // namespace detail

// The places of the elements that are not 0, in row-major order: numbers in a vector, else an index
// for each axis (numpy.argwhere, torch.nonzero).
template <TensorExpression X>
auto nonzero(X const& x) {
    using S = typename X::shape_type;
    static_assert(detail::has_last_axis<S>, "castnet: nonzero: a tensor of rank 0 has no places");
    auto const values = detail::values_on_host(x);
    auto const found = detail::selected(values.data(), S::count, [](size_t i) { return i; });
    if constexpr (S::rank == 1) {
        return found;
    } else {
        std::vector<std::array<size_t, S::rank>> places(found.size());
        for (size_t i = 0; i != found.size(); ++i) {
            for (size_t axis = 0; axis != S::rank; ++axis) {
                places[i][axis] = found[i] / row_major<S>::step[axis] % S::extent[axis];
            }
        }
        return places;
    }
}

// The elements where a mask, which is broadcast to the shape of x, is not 0, in row-major order:
// x[mask] in NumPy.
template <TensorExpression X, TensorExpression Mask>
auto masked_select(X const& x, Mask const& mask) {
    using S = typename X::shape_type;
    auto const values = detail::values_on_host(x);
    auto chosen = tensor<typename Mask::value_type, S>::empty();
    chosen = detail::values_on_host(mask);
    return detail::selected(chosen.data(), S::count,
                            [from = values.data()](size_t i) { return from[i]; });
}

namespace detail {

// The first position in ascending numbers whose element does not come before x.
template <class T>
CASTNET_HD constexpr size_t lower_bound(T const* sorted, size_t count, T x) {
    size_t first = 0;
    while (count > 0) {
        size_t const half = count / 2;
        if (ascending{}(sorted[first + half], x)) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

// The same of several keys at once, so that none waits for what the others read, without jumps.
template <size_t Several, class Key>
void lower_bounds(Key const* sorted, size_t count, Key const* keys, size_t* places) {
    size_t first[Several] = {};
    for (; count > 1; count -= count / 2) {
        size_t const half = count / 2;
        for (size_t i = 0; i != Several; ++i) {
            first[i] += half & (0 - size_t{sorted[first[i] + half - 1] < keys[i]});
        }
    }
    for (size_t i = 0; i != Several; ++i) {
        places[i] = first[i] + size_t{count > 0 && sorted[first[i]] < keys[i]};
    }
}

// The keys (sort.hpp) of elements as numbers of T, where -0 is 0.
template <class T, class X>
auto keys_of(X const& x) {
    tensor<T, typename X::shape_type> const values(x);
    auto keys = tensor<typename sort_key<T>::type, typename X::shape_type>::empty();
    for (size_t i = 0; i != X::size(); ++i) {
        keys.data()[i] = sort_key<T>::of(static_cast<T>(values.data()[i] + T(0)));
    }
    return keys;
}

} // namespace detail

// For each element of x the first position in a vector in ascending order whose element is not
// less, as numpy.searchsorted; the vector's length if there is none.
template <TensorExpression V, TensorExpression X>
auto searchsorted(V const& sorted, X const& x) {
    using T = detail::common_value_t<V, X>;
    static_assert(detail::is_vector<typename V::shape_type>,
                  "castnet: searchsorted searches in a vector: a tensor of one axis");
    auto const in = detail::keys_of<T>(sorted);
    auto const keys = detail::keys_of<T>(x);
    auto places = tensor<size_t, typename X::shape_type>::empty();
    constexpr size_t several = 8, rest = X::size() % several;
    for (size_t i = 0; i != X::size() - rest; i += several) {
        detail::lower_bounds<several>(in.data(), in.size(), keys.data() + i, places.data() + i);
    }
    if constexpr (rest > 0) {
        size_t const i = X::size() - rest;
        detail::lower_bounds<rest>(in.data(), in.size(), keys.data() + i, places.data() + i);
    }
    return places;
}

} // namespace castnet
