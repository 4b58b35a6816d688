// The one loop that computes an expression: no temporaries, and a flat loop wherever all operands
// lie in memory like the result.
#pragma once

#include <castnet/tensor/detail/loop.hpp>
#include <castnet/tensor/detail/operand.hpp>
#include <castnet/tensor/device.hpp>
#include <castnet/tensor/view.hpp>

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace castnet {

template <class T, Shape S, class Device>
class tensor;

namespace detail {

template <size_t... D>
auto without_last(shape<D...>) {
    return []<size_t... I>(std::index_sequence<I...>) {
        return shape<shape<D...>::extent[I]...>{};
    }(std::make_index_sequence<sizeof...(D) - 1>{});
}

// Elements that are computed before they are stored: so the compiler sees without help that they do
// not depend on each other, also where the result is among the operands. (Compilers unroll shorter
// loops before they look for vectors, and then find none.)
inline constexpr size_t block_length = 64;

// out[i] = value(i) for i < Count, at most a block.
template <size_t Count, class T, class Value>
void store_block(T* out, Value const& value) {
    T block[Count];
    for (size_t i = 0; i < Count; ++i) {
        block[i] = static_cast<T>(value(i));
    }
    std::memcpy(out, block, sizeof block);
}

template <size_t Count, class T, class Value>
void store_in_blocks(T* out, Value const& value) {
    constexpr size_t rest = Count % block_length;
    for (size_t first = 0; first != Count - rest; first += block_length) {
        store_block<block_length>(out + first, [&](size_t i) { return value(first + i); });
    }
    if constexpr (rest > 0) {
        store_block<rest>(out + (Count - rest), [&](size_t i) { return value(Count - rest + i); });
    }
}

// Writes x, which is read across rows, to rows of a view: a block of a few rows after the other, so
// that the lines of the cache that one row reads are still there for the next.
template <class T, class S, class Strides, class X>
void write_in_tiles(tensor_view<T, S, Strides> to, X const& x) {
    constexpr size_t most = 16, height = S::extent[S::rank - 2], width = S::extent[S::rank - 1];
    constexpr size_t rest = width % block_length;
    auto const write_tile = [&]<size_t Count>(std::integral_constant<size_t, Count>, size_t top,
                                              size_t left, auto... at) {
        for (size_t row = top; row < std::min(top + most, height); ++row) {
            store_block<Count>(&to.element(at..., row, left), [&](size_t i) {
                return broadcast_element(x, at..., row, left + i);
            });
        }
    };
    for_each_row<decltype(without_last(S{}))>([&](auto... at) {
        for (size_t top = 0; top < height; top += most) {
            for (size_t left = 0; left != width - rest; left += block_length) {
                write_tile(std::integral_constant<size_t, block_length>{}, top, left, at...);
            }
            if constexpr (rest > 0) {
                write_tile(std::integral_constant<size_t, rest>{}, top, width - rest, at...);
            }
        }
    });
}

// Writes x, whose elements must not be disturbed by that, to a view.
template <class T, class S, class Strides, class X>
void write(tensor_view<T, S, Strides> to, X const& x) {
    if constexpr (tensor_view<T, S, Strides>::is_flat && is_flat_over<X, S>()) {
        store_in_blocks<S::count>(to.data(), [&](size_t i) { return flat_element<S>(x, i); });
    } else if constexpr (Strides::step[S::rank - 1] == 1 && S::rank > 1 && !is_along_rows<X>()) {
        write_in_tiles(to, x);
    } else if constexpr (Strides::step[S::rank - 1] == 1) {
        for_each_row<S>([&](auto... row) {
            store_in_blocks<S::extent[S::rank - 1]>(&to.element(row..., size_t{0}), [&](size_t i) {
                return broadcast_element(x, row..., i);
            });
        });
    } else {
        for_each_index<S>(
            [&](auto... i) { to.element(i...) = static_cast<T>(broadcast_element(x, i...)); });
    }
}

// The same on any device, whose kernels write what does not lie on the host.
template <class T, class S, class Strides, class Device, class X>
void write_on(tensor_view<T, S, Strides, Device> to, X const& x) {
    if constexpr (is_host<Device>) {
        write(to, x);
    } else {
        Device::write(to, x);
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

template <class T, class S, class Strides, class Device, class X>
void assign(tensor_view<T, S, Strides, Device> to, X const& from) {
    if constexpr (TensorExpression<X>) {
        check_device<Device, typename X::device_type>();
        static_assert(can_assign<typename X::shape_type, S>,
                      "castnet: cannot assign: the shape of the right side does not broadcast to "
                      "that of the left side");
        if (is_disturbed_by(from, to)) {
            tensor<T, typename X::shape_type, Device> const copy(from);
            write_on(to, copy);
            return;
        }
    }
    write_on(to, from);
}

} // namespace detail

} // namespace castnet
