// Evaluation of an expression in one loop: flat wherever all operands lie in memory like the
// result, tile by tile where they are turned or rows are short, otherwise row by row.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/tensor/detail/blocks.hpp>
#include <castnet/tensor/detail/loop.hpp>
#include <castnet/tensor/detail/merged_axes.hpp>
#include <castnet/tensor/detail/operand.hpp>
#include <castnet/tensor/detail/repeated_operands.hpp>
#include <castnet/tensor/detail/store.hpp>
#include <castnet/tensor/detail/tile.hpp>
#include <castnet/tensor/device.hpp>
#include <castnet/tensor/view.hpp>

#include <algorithm>
#include <bit>
#include <type_traits>

namespace castnet {

template <class T, Shape S, class Device>
class tensor;

namespace detail {

// Tensors of as many elements at most are computed before anything is written, so that they may
// read what they are assigned to in any order.
inline constexpr size_t most_at_once = 16;

template <class View>
inline constexpr bool writes_at_once = View::is_flat && View::shape_type::count <= most_at_once;

template <class T, class S, class Strides, class X>
CASTNET_ALWAYS_INLINE void write(tensor_view<T, S, Strides> to, X const& x);

// Writes x, the elements of a matrix or of a batch of them that are turned in memory, to rows.
template <class T, class S, class Strides, class X>
CASTNET_ALWAYS_INLINE void write_transposed(tensor_view<T, S, Strides> to, X const& x) {
    constexpr size_t rows = S::extent[S::rank - 2], columns = S::extent[S::rank - 1];
    constexpr size_t row = Strides::step[S::rank - 2], column = step_from_last<X, 0>();
    // (small matrices of other extents fill no vectors)
    constexpr bool in_blocks =
        rows * columns > 64 || (std::has_single_bit(rows) && std::has_single_bit(columns));
    for_each_index<decltype(without_last(without_last(S{})))>([&](auto... at) {
        auto const* const from = address_in(x, std::array<size_t, S::rank>{at..., 0, 0});
        T* const out = &to.element(at..., size_t{0}, size_t{0});
        if constexpr (in_blocks) {
            transpose_fixed<rows, columns>(from, column, out, row);
        } else {
            for (size_t i = 0; i < rows; ++i) {
                for (size_t k = 0; k < columns; ++k) {
                    out[i * row + k] = from[i + k * column];
                }
            }
        }
    });
}

// Writes x tile by tile.
template <size_t Height, size_t Width, class T, class S, class Strides, class X>
CASTNET_ALWAYS_INLINE void write_in_tiles(tensor_view<T, S, Strides> to, X const& x) {
    for_each_tile<S, false, Height, Width>(x, [&](auto const& tile, auto... first) {
        using shape_type = typename std::remove_cvref_t<decltype(tile)>::shape_type;
        using steps = strides<Strides::step[S::rank - 2], 1>;
        write(tensor_view<T, shape_type, steps>{&to.element(first...)}, tile);
    });
}

// Whether x is a matrix, or a batch of them, that `to` takes turned as it lies in memory.
template <class To, class X>
constexpr bool is_transposed() {
    using S = typename To::shape_type;
    using T = typename To::value_type;
    if constexpr (S::rank < 2 || !TurnedInVectors<T> || !requires { typename X::strides_type; }) {
        return false;
    } else {
        constexpr size_t rows = S::extent[S::rank - 2], columns = S::extent[S::rank - 1];
        return std::is_same_v<typename X::value_type, T> &&
               order_in_tile<X, rows, columns>() == tile_order::across &&
               (To::is_flat || columns >= block_lanes<T, rows, columns>);
    }
}

// Writes x, whose elements must not be disturbed by that, to a view.
template <class T, class S, class Strides, class X>
CASTNET_ALWAYS_INLINE void write(tensor_view<T, S, Strides> to, X const& x) {
    using target = tensor_view<T, S, Strides>;
    constexpr size_t most_rows = 64 / sizeof(T), most_columns = 64; // turned in whole vectors
    if constexpr (writes_at_once<target>) {
        T block[S::count];
        T* next = block;
        for_each_of_few<S>([&](auto... i) __attribute__((always_inline)) {
            *next++ = static_cast<T>(broadcast_element(x, i...));
        });
        T* const out = to.data(); // (what g++ copies at once lies in memory first)
        for_few<S::count>([&](size_t k) __attribute__((always_inline)) { out[k] = block[k]; });
    } else if constexpr (target::is_flat && is_flat_over<X, S>()) {
        store_elements<S::count>(to.data(), x, flat_reader<S>{});
    } else if constexpr (Strides::step[S::rank - 1] != 1) {
        for_each_index<S>(
            [&](auto... i) { to.element(i...) = static_cast<T>(broadcast_element(x, i...)); });
    } else if constexpr (is_transposed<target, X>()) {
        write_transposed(to, x);
    } else if constexpr (target::is_flat && (has_short_rows<S, T> ||
                                             (has_uneven_rows<S, T> && is_along_rows<X>() &&
                                              (!is_cheap_operand<X> || copies_little<S, X>)))) {
        for_each_tile_of_rows<S>(x, [&](auto const& tile, auto... first) {
            using shape_type = typename std::remove_cvref_t<decltype(tile)>::shape_type;
            write(tensor_view<T, shape_type>{&to.element(first...)}, tile);
        });
    } else if constexpr (S::rank > 1 && !is_along_rows<X>()) {
        write_in_tiles<std::min(S::extent[S::rank - 2], most_rows),
                       std::min(S::extent[S::rank - 1], most_columns)>(to, x);
    } else {
        for_each_row<S>([&](auto... row) {
            constexpr size_t columns = S::extent[S::rank - 1];
            T* out = &to.element(row..., size_t{0});
            if constexpr (unrolls_block<columns, cost_of<X>, T>) {
                CASTNET_OPAQUE(out); // g++ makes vectors across rows that are not loops
            }
            store_elements<columns>(out, x, row_reader<decltype(row)...>{{row...}});
        });
    }
}

// The same with neighbouring axes as one, where they lie so.
template <class T, class S, class Strides, class X>
CASTNET_ALWAYS_INLINE void write_merged(tensor_view<T, S, Strides> to, X const& x) {
    using target = tensor_view<T, S, Strides>;
    if constexpr (S::rank < 2 || writes_at_once<target> ||
                  (target::is_flat && is_flat_over<X, S>())) {
        write(to, x);
    } else {
        using axes = merged_axes<S, std::tuple<target, X>>;
        if constexpr (merges_axes<axes, S>) {
            write(with_merged_axes<axes, S>(to), with_merged_axes<axes, S>(x));
        } else {
            write(to, x);
        }
    }
}

// The same on any device, whose kernels write what does not lie on the host.
template <class T, class S, class Strides, class Device, class X>
CASTNET_ALWAYS_INLINE void write_on(tensor_view<T, S, Strides, Device> to, X const& x) {
    if constexpr (!is_host<Device>) {
        Device::write(to, x);
    } else if constexpr (requires { x.view(); }) {
        write_merged(to, x.view()); // with which compilers see that writing does not move elements
    } else {
        with_repeated_computed<S::count>(x, [&](auto const& computed) __attribute__((
                                                always_inline)) { write_merged(to, computed); });
    }
}

template <class To, class From>
constexpr void check_device() {
    static_assert(on_same_device<To, From>,
                  "castnet: the right side lies on another device than the left one: copy it, with "
                  "to<device::cuda>(x) or to<device::cpu>(x)");
}

template <class From, class To>
inline constexpr bool can_assign = broadcasts_to<From, To>;

// Writes x by way of a copy.
template <class T, class S, class Strides, class Device, class X>
[[gnu::noinline]] void write_copy(tensor_view<T, S, Strides, Device> to, X const& x) {
    tensor<T, typename X::shape_type, Device> const copy(x);
    write_on(to, copy);
}

template <class T, class S, class Strides, class Device, class X>
CASTNET_ALWAYS_INLINE void assign(tensor_view<T, S, Strides, Device> to, X const& from) {
    if constexpr (TensorExpression<X>) {
        check_device<Device, typename X::device_type>();
        static_assert(can_assign<typename X::shape_type, S>,
                      "castnet: cannot assign: the shape of the right side does not broadcast to "
                      "that of the left side");
        if constexpr (!is_host<Device> || !writes_at_once<tensor_view<T, S, Strides>>) {
            if (is_disturbed_by(from, to)) {
                write_copy(to, from);
                return;
            }
        }
    }
    write_on(to, from);
}

} // namespace detail

} // namespace castnet
