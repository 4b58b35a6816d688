// array_equal and allclose of tensors on a GPU: one kernel, for whose answer the host waits.
#pragma once

#include <castnet/device/cuda/tensor/reduce.hpp>
#include <castnet/expr/callables.hpp>

#include <limits>

namespace castnet {

template <class A, class B>
    requires(TensorOperands<A, B> && (GpuExpression<A> || GpuExpression<B>))
bool array_equal(A const& a, B const& b) {
    return max(a != b).item() == 0;
}

// As on the host, but for the type of the arithmetic, which is that of the elements.
template <class A, class B>
    requires(TensorOperands<A, B> && (GpuExpression<A> || GpuExpression<B>))
bool allclose(A const& a, B const& b, double rtol = 1e-5, double atol = 1e-8) {
    auto const is_finite = abs(b) < std::numeric_limits<double>::infinity();
    auto const is_near = maximum(a, b) - minimum(a, b) <= atol + rtol * abs(b);
    return min(maximum(a == b, is_finite * is_near)).item() != 0;
}

} // namespace castnet
