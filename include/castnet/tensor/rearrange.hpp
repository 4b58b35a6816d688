// Elements at other places along the axes: flip, roll, take, take_along_axis, tile,
// repeat_interleave, pad. Computed at once, as a tensor of its own.
#pragma once

#include <castnet/core/pad.hpp>
#include <castnet/tensor/detail/gather.hpp>
#include <castnet/tensor/detail/reverse.hpp>
#include <castnet/tensor/join.hpp>
#include <castnet/tensor/matmul.hpp>
#include <castnet/tensor/views.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace castnet {

namespace detail {

// Whether x has its elements in row-major order, in memory that is not its own to give away.
template <class X>
inline constexpr bool is_read_in_rows = false;
template <class X>
    requires requires { typename std::remove_cvref_t<X>::strides_type; }
inline constexpr bool is_read_in_rows<X> =
    std::remove_cvref_t<X>::is_flat &&
    (std::is_lvalue_reference_v<X> || !requires(std::remove_cvref_t<X>& t) { t.view(); });

} // namespace detail

// The positions of these axes in reverse order, as numpy.flip and torch.flip: flip<0, 1>(x).
template <size_t Axis, size_t... More, TensorExpression X>
auto flip(X&& x) {
    using expression = std::remove_cvref_t<X>;
    using S = typename expression::shape_type;
    static_assert((detail::has_axis<S, Axis> && ... && detail::has_axis<S, More>),
                  "castnet: the tensor has no such axis");
    static_assert(detail::are_distinct<Axis, More...>(),
                  "castnet: flip takes each axis once: two reversals leave it as it is");
    if constexpr (!detail::is_host<typename expression::device_type>) {
        auto reversed =
            detail::gathered<Axis, S::extent[Axis]>(x, detail::from_the_end<S::extent[Axis]>{});
        if constexpr (sizeof...(More) > 0) {
            return flip<More...>(reversed);
        } else {
            return reversed;
        }
    } else if constexpr (detail::is_read_in_rows<X>) {
        auto result = tensor<typename expression::value_type, S>::empty();
        detail::reverse_axes<false, detail::reversed_axes<S, Axis, More...>>(
            x.data(), result.data(), S::count);
        return result;
    } else {
        auto result = evaluate(static_cast<X&&>(x));
        auto* const all = result.data();
        detail::reverse_axes<true, detail::reversed_axes<S, Axis, More...>>(all, all, S::count);
        return result;
    }
}

// Each position of an axis moved by `shift`, which may be negative; what is moved beyond one end
// comes in at the other, as numpy.roll.
template <size_t Axis, TensorExpression X>
auto roll(X const& x, std::ptrdiff_t shift) {
    using S = typename X::shape_type;
    static_assert(detail::has_axis<S, Axis>, "castnet: the tensor has no such axis");
    constexpr size_t extent = S::extent[Axis];
    auto const count = static_cast<std::ptrdiff_t>(extent);
    auto const first = static_cast<size_t>((count - shift % count) % count);
    return detail::gathered<Axis, extent>(x, detail::turned_by<extent>{first});
}

// The positions of an axis that `ids` names, a tensor of whole numbers from 0 on, whose axes take
// the place of that axis: as numpy.take(x, ids, axis). On the host it throws castnet::error for an
// id that the axis does not have; on a GPU ids are not checked.
template <size_t Axis, TensorExpression X, TensorExpression Ids>
auto take(X const& x, Ids const& ids) {
    using S = typename X::shape_type;
    using Id = typename Ids::value_type;
    static_assert(detail::has_axis<S, Axis>, "castnet: the tensor has no such axis");
    static_assert(std::is_integral_v<Id>, "castnet: take needs ids that are whole numbers");
    auto const all = detail::factor<Id, detail::factor_order::rows>(ids);
    if constexpr (detail::is_host<detail::device_of_operands<X, Ids>>) {
        detail::check_ids<S::extent[Axis]>(all.data(), all.size());
    }
    auto found = detail::gathered<Axis, Ids::shape_type::count>(
        x, detail::chosen<Id>{detail::raw(all.data())});
    using shape_type = decltype(detail::axis_replaced<Axis, S>(typename Ids::shape_type{}));
    return std::move(found).template as<shape_type>();
}

// The same by ids in an array: take<0>(x, std::array{2, 0, 2}).
template <size_t Axis, TensorExpression X, std::integral Id, size_t Count>
auto take(X const& x, std::array<Id, Count> const& ids) {
    return take<Axis>(x, tensor_view<Id const, shape<Count>>{ids.data()});
}

// For each place of `ids` the element that has its number along an axis, and otherwise the same
// place: as numpy.take_along_axis and torch.gather. So take_along_axis<1>(x, argsort(x)) is sort(x)
// of a matrix. The shapes differ along that axis only. Throws castnet::error for an id that the
// axis does not have. On the host.
template <size_t Axis, TensorExpression X, TensorExpression Ids>
auto take_along_axis(X const& x, Ids const& ids) {
    using S = typename X::shape_type;
    using Chosen = typename Ids::shape_type;
    static_assert(detail::has_axis<S, Axis>, "castnet: the tensor has no such axis");
    static_assert(detail::can_join<Axis, S, Chosen>,
                  "castnet: take_along_axis takes ids whose shape is that of the tensor but for "
                  "the extent of that axis");
    static_assert(std::is_integral_v<typename Ids::value_type>,
                  "castnet: take_along_axis needs ids that are whole numbers");
    static_assert(detail::is_host<detail::device_of_operands<X, Ids>>,
                  "castnet: take_along_axis is for tensors of the host: copy them, with "
                  "to<device::cpu>(x)");
    constexpr size_t extent = S::extent[Axis], inner = row_major<S>::step[Axis];
    constexpr size_t chosen = Chosen::extent[Axis] * inner; // of each part of the axes before
    using detail::factor, detail::factor_order;
    auto const values = factor<typename X::value_type, factor_order::rows>(x);
    auto const places = factor<typename Ids::value_type, factor_order::rows>(ids);
    detail::check_ids<extent>(places.data(), places.size());
    auto found = tensor<typename X::value_type, Chosen>::empty();
    for (size_t part = 0; part != found.size() / chosen; ++part) {
        auto const* const from = values.data() + part * extent * inner;
        auto const* const at = places.data() + part * chosen;
        auto* const to = found.data() + part * chosen;
        for (size_t i = 0; i != chosen; ++i) {
            to[i] = from[static_cast<size_t>(at[i]) * inner + i % inner];
        }
    }
    return found;
}

// The tensor so many times along each axis, one number for each, as numpy.tile.
template <size_t... Times, TensorExpression X>
auto tile(X const& x) {
    using S = typename X::shape_type;
    static_assert(detail::counts_every_axis<S, Times...>,
                  "castnet: tile needs a number, at least 1, for each axis of the tensor");
    auto const values = detail::factor<typename X::value_type, detail::factor_order::rows>(x);
    return [&]<size_t... Axis>(std::index_sequence<Axis...>) {
        auto repeated = evaluate(detail::tiled<Times...>(detail::view_of(values),
                                                         std::make_index_sequence<2 * S::rank>{}));
        return std::move(repeated).template as<shape<(Times * S::extent[Axis])...>>();
    }(std::make_index_sequence<S::rank>{});
}

// Each position of an axis so many times, one after the other, as numpy.repeat and
// torch.repeat_interleave.
template <size_t Axis, size_t Times, TensorExpression X>
auto repeat_interleave(X const& x) {
    using S = typename X::shape_type;
    static_assert(detail::has_axis<S, Axis>, "castnet: the tensor has no such axis");
    static_assert(Times > 0, "castnet: repeat_interleave repeats at least once");
    auto const values = detail::factor<typename X::value_type, detail::factor_order::rows>(x);
    using axes = std::make_index_sequence<S::rank + 1>;
    using apart = decltype(detail::stacked<Axis + 1, Times, S>(axes{}));
    using together = decltype(detail::lengthened<Axis, Times * S::extent[Axis], S>(
        std::make_index_sequence<S::rank>{}));
    auto const view = expand_dims<Axis + 1>(detail::view_of(values));
    return evaluate(detail::spread<apart>(view, axes{})).template as<together>();
}

// pad<Axis, Before, After>(x, value = 0): so many positions before and after those of an axis,
// filled with a number, which is converted to the type of the elements. As numpy.pad(x, …,
// constant_values=value) along one axis.
template <size_t Axis, size_t Before, size_t After, TensorExpression X,
          Number Value = typename X::value_type>
auto apply(pad_layer<Axis, Before, After>, X const& x, Value value = 0) {
    using S = typename X::shape_type;
    using T = typename X::value_type;
    static_assert(detail::has_axis<S, Axis>, "castnet: the tensor has no such axis");
    constexpr size_t end = Before + S::extent[Axis], total = end + After;
    using padded =
        decltype(detail::lengthened<Axis, total, S>(std::make_index_sequence<S::rank>{}));
    auto result = tensor<T, padded, typename X::device_type>::empty();
    if constexpr (Before > 0) {
        slice<Axis, 0, Before>(result) = static_cast<T>(value);
    }
    slice<Axis, Before, end>(result) = x;
    if constexpr (After > 0) {
        slice<Axis, end, total>(result) = static_cast<T>(value);
    }
    return result;
}

} // namespace castnet
