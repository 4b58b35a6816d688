// device::cuda: the operations of tensors on a GPU.
#pragma once

#include <castnet/tensor/tensor.hpp>

namespace castnet {

template <class X>
concept GpuExpression = TensorExpression<X> &&
                        std::is_same_v<typename std::remove_cvref_t<X>::device_type, device::cuda>;

// All of it is put on the calling thread's stream (device/cuda/tensor/stream.hpp).
struct device::cuda {
    // to = x, an expression that broadcasts to it, or a number: one kernel.
    template <class T, class S, class Strides, class X>
    static void write(tensor_view<T, S, Strides, cuda> to, X const& x);

    // A reduction (tensor/detail/reduction.hpp) of an expression, computed on the way, over some
    // axes, which have extent 1 in the result: one kernel.
    template <template <class, size_t> class Reduction, class X, size_t... Axes>
    static auto reduce(X const& x, std::index_sequence<Axes...>);

    // Position i of each of an axis' To positions = position place(i) of From, in lines of Inner
    // neighbours; `count` elements in all.
    template <size_t From, size_t To, size_t Inner, class T, class Place>
    static void gather(device_ptr<T const> from, device_ptr<T> to, size_t count,
                       Place const& place);

    // The products of two batches of matrices, views whose rows or columns lie apart.
    template <class A, class B, class R>
    static void multiply(A const& a, B const& b, R const& result);

    // The same with an end (tensor/detail/product_end.hpp) that cuBLASLt may compute on the way.
    template <class A, class B, class R, class End>
    static void multiply(A const& a, B const& b, R const& result, End const& end);
    template <class Product, class End>
    static constexpr bool ends_product();

    // Random numbers as on the host: make(pair) for each pair of neighbouring elements.
    template <class T, class S, class Make>
    static void fill_with_random(tensor_view<T, S, row_major<S>, cuda> to, philox_key key,
                                 std::uint64_t stream, Make const& make);
};

} // namespace castnet
