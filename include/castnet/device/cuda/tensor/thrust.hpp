// Tensors on a GPU as ranges for Thrust: thrust::sort(on_stream(), begin(x), end(x)). Needs nvcc.
#pragma once

#include <castnet/device/cuda/tensor.hpp>

#include <thrust/device_ptr.h>
#include <thrust/system/cuda/execution_policy.h>

namespace castnet {

namespace detail {

template <class X>
concept DeviceRange = GpuExpression<X> && requires {
    typename std::remove_cvref_t<X>::strides_type;
} && std::remove_cvref_t<X>::is_flat;

} // namespace detail

// The elements in row-major order of a tensor, or of a view whose elements lie in order.
template <detail::DeviceRange X>
auto begin(X&& x) {
    return thrust::device_pointer_cast(x.data().get());
}
template <detail::DeviceRange X>
auto end(X&& x) {
    return begin(x) + static_cast<std::ptrdiff_t>(x.size());
}

// The policy by which Thrust's algorithms run on the calling thread's stream of tensors: after what
// it has been given so far, and before what comes later. (Those that give numbers to the host
// wait.)
inline auto on_stream() {
    auto const& stream = cuda::tensor_stream::current();
    stream.use();
    return thrust::cuda::par_nosync.on(stream.get());
}

} // namespace castnet
