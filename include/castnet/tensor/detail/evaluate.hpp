// The one loop that computes an expression: no temporaries, and a flat loop wherever all operands
// lie in memory like the result.
#pragma once

#include <castnet/tensor/detail/loop.hpp>
#include <castnet/tensor/detail/operand.hpp>
#include <castnet/tensor/view.hpp>

namespace castnet {

template <class T, Shape S>
class tensor;

namespace detail {

// out[i] = value(i) for i < Count. A block of values is computed before it is stored: so the
// compiler sees without help that they do not depend on each other, also where out is among the
// operands.
template <size_t Count, class T, class Value>
void store_in_blocks(T* out, Value const& value) {
    constexpr size_t width = 64 / sizeof(T) > 0 ? 64 / sizeof(T) : 1;
    constexpr size_t whole = Count - Count % width;
    for (size_t i = 0; i != whole; i += width) {
        T block[width];
        for (size_t j = 0; j < width; ++j) {
            block[j] = static_cast<T>(value(i + j));
        }
        for (size_t j = 0; j < width; ++j) {
            out[i + j] = block[j];
        }
    }
    for (size_t i = whole; i < Count; ++i) {
        out[i] = static_cast<T>(value(i));
    }
}

// Writes x, whose elements must not be disturbed by that, to a view.
template <class T, class S, class Strides, class X>
void write(tensor_view<T, S, Strides> to, X const& x) {
    constexpr size_t last = S::rank - 1;
    if constexpr (tensor_view<T, S, Strides>::is_flat && is_flat_over<X, S>()) {
        store_in_blocks<S::count>(to.data(), [&](size_t i) { return flat_element<S>(x, i); });
    } else if constexpr (Strides::step[last] == 1) {
        for_each_row<S>([&](auto... row) {
            store_in_blocks<S::extent[last]>(&to.element(row..., size_t{0}), [&](size_t i) {
                return broadcast_element(x, row..., i);
            });
        });
    } else {
        for_each_index<S>(
            [&](auto... i) { to.element(i...) = static_cast<T>(broadcast_element(x, i...)); });
    }
}

template <class From, class To>
inline constexpr bool can_assign = broadcasts_to<From, To>;

template <class T, class S, class Strides, class X>
void assign(tensor_view<T, S, Strides> to, X const& from) {
    if constexpr (TensorExpression<X>) {
        static_assert(can_assign<typename X::shape_type, S>,
                      "castnet: cannot assign: the shape of the right side does not broadcast to "
                      "that of the left side");
        if (is_disturbed_by(from, to)) {
            tensor<T, typename X::shape_type> const copy(from);
            write(to, copy);
            return;
        }
    }
    write(to, from);
}

} // namespace detail

} // namespace castnet
