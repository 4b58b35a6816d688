// The one loop that computes an expression: no temporaries, and a flat loop wherever all operands
// lie in memory like the result.
#pragma once

#include <castnet/core/annotations.hpp>
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

// out[i] = value(i) for i < Count, where iterations do not depend on each other: what value(i)
// reads is not written, or is element i itself. (GCC forgets this about loops that it unrolls
// before it looks for vectors, and clang cannot be told: there, elements are computed before they
// are stored.)
template <size_t Count, class T, class Value>
CASTNET_ALWAYS_INLINE void store(T* out, Value const& value) {
#ifdef __clang__
    constexpr size_t block_length = 64, rest = Count % block_length;
#else
    constexpr size_t block_length = 16, rest = Count <= block_length ? Count : 0;
#endif
    auto const store_block = [&]<size_t Length>(size_t first, shape<Length>)
                                 __attribute__((always_inline)) {
                                     T block[Length];
                                     for (size_t i = 0; i < Length; ++i) {
                                         block[i] = static_cast<T>(value(first + i));
                                     }
                                     std::memcpy(out + first, block, sizeof block);
                                 };
#ifdef __clang__
    for (size_t first = 0; first != Count - rest; first += block_length) {
        store_block(first, shape<block_length>{});
    }
#else
    if constexpr (rest == 0) {
        CASTNET_IVDEP
        for (size_t i = 0; i < Count; ++i) {
            out[i] = static_cast<T>(value(i));
        }
    }
#endif
    if constexpr (rest > 0) {
        store_block(Count - rest, shape<rest>{});
    }
}

// Writes x, which is read across rows, to rows of a view: a block of a few rows after the other, so
// that the lines of the cache that one row reads are still there for the next.
template <class T, class S, class Strides, class X>
CASTNET_ALWAYS_INLINE void write_in_tiles(tensor_view<T, S, Strides> to, X const& x) {
    constexpr size_t most = 16, tile_width = 64, height = S::extent[S::rank - 2],
                     width = S::extent[S::rank - 1];
    constexpr size_t rest = width % tile_width;
    auto const write_tile = [&]<size_t Count>(std::integral_constant<size_t, Count>, size_t top,
                                              size_t left, auto... at) {
        for (size_t row = top; row < std::min(top + most, height); ++row) {
            store<Count>(&to.element(at..., row, left),
                         [&](size_t i) __attribute__((always_inline)) {
                             return broadcast_element(x, at..., row, left + i);
                         });
        }
    };
    for_each_row<decltype(without_last(S{}))>([&](auto... at) {
        for (size_t top = 0; top < height; top += most) {
            for (size_t left = 0; left != width - rest; left += tile_width) {
                write_tile(std::integral_constant<size_t, tile_width>{}, top, left, at...);
            }
            if constexpr (rest > 0) {
                write_tile(std::integral_constant<size_t, rest>{}, top, width - rest, at...);
            }
        }
    });
}

// Tensors of as many elements at most are computed before anything is written, so that they may
// read what they are assigned to in any order.
inline constexpr size_t most_at_once = 16;

template <class View>
inline constexpr bool writes_at_once = View::is_flat && View::shape_type::count <= most_at_once;

// Writes x, whose elements must not be disturbed by that, to a view.
template <class T, class S, class Strides, class X>
CASTNET_ALWAYS_INLINE void write(tensor_view<T, S, Strides> to, X const& x) {
    if constexpr (writes_at_once<tensor_view<T, S, Strides>>) {
        T block[S::count];
        T* next = block;
        for_each_index<S>([&](auto... i) __attribute__((always_inline)) {
            *next++ = static_cast<T>(broadcast_element(x, i...));
        });
        std::memcpy(to.data(), block, sizeof block);
    } else if constexpr (tensor_view<T, S, Strides>::is_flat && is_flat_over<X, S>()) {
        store<S::count>(to.data(), [&](size_t i) __attribute__((always_inline)) {
            return flat_element<S>(x, i);
        });
    } else if constexpr (Strides::step[S::rank - 1] == 1 && S::rank > 1 && !is_along_rows<X>()) {
        write_in_tiles(to, x);
    } else if constexpr (Strides::step[S::rank - 1] == 1) {
        for_each_row<S>([&](auto... row) {
            store<S::extent[S::rank - 1]>(&to.element(row..., size_t{0}),
                                          [&](size_t i) __attribute__((always_inline)) {
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
CASTNET_ALWAYS_INLINE void write_on(tensor_view<T, S, Strides, Device> to, X const& x) {
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
