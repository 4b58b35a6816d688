// Gather along an axis: position i of the result is position place(i) of a tensor.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/core/error.hpp>
#include <castnet/tensor/detail/run.hpp>
#include <castnet/tensor/detail/store.hpp>
#include <castnet/tensor/join.hpp>
#include <castnet/tensor/matmul.hpp>
#include <castnet/tensor/owning_tensor.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace castnet::detail {

// Places in an axis.
template <size_t Extent>
struct from_the_end {
    CASTNET_HD size_t operator()(size_t i) const { return Extent - 1 - i; }
};
template <size_t Extent>
struct turned_by {
    size_t first;
    CASTNET_HD size_t operator()(size_t i) const {
        return i < Extent - first ? i + first : i + first - Extent;
    }
};
template <class Id>
struct chosen {
    Id const* ids;
    CASTNET_HD size_t operator()(size_t i) const { return static_cast<size_t>(ids[i]); }
};

template <size_t Extent, class Id>
void check_ids(Id const* ids, size_t count) {
    size_t beyond = 0;
    for (size_t i = 0; i != count; ++i) {
        beyond += static_cast<size_t>(ids[i]) >= Extent ? 1 : 0;
    }
    for (size_t i = 0; beyond != 0 && i != count; ++i) {
        if (static_cast<size_t>(ids[i]) >= Extent) {
            throw error({"castnet: take: id ", static_cast<long long>(ids[i]), " at place ", i,
                         " is out of range: the axis has ", quantity(Extent, "position")});
        }
    }
}

// The axes of a shape, with others in place of one
template <size_t Axis, class S, size_t... New>
auto axis_replaced(shape<New...>) {
    return []<size_t... Before, size_t... After>(std::index_sequence<Before...>,
                                                 std::index_sequence<After...>) {
        return shape<S::extent[Before]..., New..., S::extent[Axis + 1 + After]...>{};
    }(std::make_index_sequence<Axis>{}, std::make_index_sequence<S::rank - 1 - Axis>{});
}

template <class S, size_t... Times>
inline constexpr bool counts_every_axis = sizeof...(Times) == S::rank && ((Times > 0) && ...);

// Each axis as two: Times of it, and the axis.
template <size_t... Times, class T, class S, class Strides, class Device, size_t... I>
auto tiled(tensor_view<T, S, Strides, Device> x, std::index_sequence<I...>) {
    constexpr size_t times[] = {Times..., 0};
    return tensor_view<T const, shape<(I % 2 == 0 ? times[I / 2] : S::extent[I / 2])...>,
                       strides<(I % 2 == 0 ? 0 : Strides::step[I / 2])...>, Device>{x.data()};
}

// Extent positions of Inner elements each, to `to` on. The end of them.
template <size_t Extent, size_t Inner, class T, class Place>
T* copy_places(T const* from, Place const& place, T* to) {
    if constexpr (Inner == 1) {
        store<element_cost::high, Extent>(to, [&](size_t i) { return from[place(i)]; });
    } else {
        for (size_t i = 0; i != Extent; ++i) {
            T const* const at = from + place(i) * Inner;
            if constexpr (Inner <= 16) { // for which g++ calls memmove
                std::memcpy(to + i * Inner, at, Inner * sizeof(T));
            } else {
                std::copy_n(at, Inner, to + i * Inner);
            }
        }
    }
    return to + Extent * Inner;
}
// By vectors: where rows move by a few elements, memmove can take ten times as long, since it loads
// what has the address, modulo a page, of what it has just stored.
template <class T>
T* copy_in_blocks(T const* from, T const* end, T* to) {
    constexpr size_t width = run_width<T>;
    for (; static_cast<size_t>(end - from) >= width; from += width, to += width) {
        store_block<width, element_cost::high>(to, [&](size_t i) { return from[i]; }, 0);
    }
    return std::copy(from, end, to);
}
template <size_t Extent, size_t Inner, class T>
T* copy_places(T const* from, turned_by<Extent> place, T* to) {
    T const* const middle = from + place.first * Inner;
    to = copy_in_blocks(middle, from + Extent * Inner, to);
    return copy_in_blocks(from, middle, to);
}

// The same for each of some rows, which are `size` elements of x.
template <size_t From, size_t Extent, size_t Inner, class T, class Place>
void copy_places_of_rows(T const* from, size_t size, Place const& place, T* to) {
    for (T const* const end = from + size; from != end; from += From * Inner) {
        to = copy_places<Extent, Inner>(from, place, to);
    }
}
// Short rows are turned together, as if they were one: then the fewer elements that should have
// come in at the other end of their own row are copied once more.
template <size_t From, size_t Extent, size_t Inner, class T>
void copy_places_of_rows(T const* from, size_t size, turned_by<Extent> place, T* to) {
    constexpr size_t row = Extent * Inner;
    if constexpr (row > 2 * run_width<T>) {
        for (size_t i = 0; i != size; i += row) {
            copy_places<Extent, Inner>(from + i, place, to + i);
        }
    } else {
        size_t const before = place.first * Inner, after = row - before;
        bool const ahead = before < after;
        size_t const shift = std::min(before, after);
        T const* const source = ahead ? from : from + before;
        T* const target = ahead ? to + after : to;
        std::copy_n(ahead ? from + before : from, size - shift, ahead ? to : to + after);
        for (size_t i = 0; i != size; i += row) {
            for (size_t j = 0; j != shift; ++j) {
                target[i + j] = source[i + j];
            }
        }
    }
}

// Elements of x at the places of Extent positions of an axis.
template <size_t Axis, size_t Extent, class X, class Place>
auto gathered(X const& x, Place const& place) {
    using S = typename X::shape_type;
    using T = typename X::value_type;
    using Device = typename X::device_type;
    constexpr size_t extent = S::extent[Axis], inner = row_major<S>::step[Axis];
    auto const values = factor<T, factor_order::rows>(x);
    auto result =
        tensor<T, decltype(lengthened<Axis, Extent, S>(std::make_index_sequence<S::rank>{})),
               Device>::empty();
    if constexpr (is_host<Device>) {
        copy_places_of_rows<extent, Extent, inner>(values.data(), values.size(), place,
                                                   result.data());
    } else {
        Device::template gather<extent, Extent, inner>(values.data(), result.data(), result.size(),
                                                       place);
    }
    return result;
}

} // namespace castnet::detail
