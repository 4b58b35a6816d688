// Dense layers, by cuBLASLt: y = x W, and its two gradients. W lies as (features, units).
#pragma once

#include <castnet/device/cuda/context.hpp>
#include <castnet/device/cuda/element_type.hpp>
#include <castnet/device/cuda/epilogue.hpp>
#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/libraries.hpp>

namespace castnet::cuda {

template <class T>
cublas::product product_of(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const& first = t.arrays[s.first_array];
    std::ptrdiff_t const rows = c.samples * first.size.pixels, in = first.size.channels;
    cublas::product p;
    if (s.kind == op::matmul_weight) { // features x units
        p = {in, t.arrays[s.first_array + 1].size.channels, rows};
        p.transposed_a = true;
    } else {
        p = {rows, t.arrays[s.output].size.channels, in};
        p.transposed_b = s.kind == op::matmul_data;
    }
    p.type = c.precision == product_precision::bf16 ? CUDA_R_16BF : element_type<T>::cublas;
    p.result = t.arrays[s.output].is_bf16 ? CUDA_R_16BF : element_type<T>::cublas;
    p.compute = p.type == CUDA_R_64F ? CUBLAS_COMPUTE_64F
                : p.type == CUDA_R_32F && c.precision == product_precision::tf32
                    ? CUBLAS_COMPUTE_32F_FAST_TF32
                    : CUBLAS_COMPUTE_32F;
    if (s.end.bias_gradient) {
        p.end = CUBLASLT_EPILOGUE_BGRADA; // of dy, its first factor (cublas/product.hpp)
    } else if (s.end.bias) {
        p.end = !s.end.activates               ? CUBLASLT_EPILOGUE_BIAS
                : s.end.activation == fn::relu ? CUBLASLT_EPILOGUE_RELU_BIAS
                                               : CUBLASLT_EPILOGUE_GELU_BIAS;
    }
    return p;
}

// matmul (x, W), matmul_data (dy, W) and matmul_weight (x, dy) alike.
template <class T>
void multiply(kernel_launch const& s, tables const& t, context<T> const& c) {
    c.library->run(product_of(s, t, c), c.at(t.arrays[s.first_array]),
                   c.at(t.arrays[s.first_array + 1]), c.at(t.arrays[s.output]), bias_of(s, t, c));
}

template <class T>
struct kernel_for<context<T>, op::matmul> : function_kernel<context<T>, &multiply<T>> {};
template <class T>
struct kernel_for<context<T>, op::matmul_data> : function_kernel<context<T>, &multiply<T>> {};
template <class T>
struct kernel_for<context<T>, op::matmul_weight> : function_kernel<context<T>, &multiply<T>> {};

} // namespace castnet::cuda
