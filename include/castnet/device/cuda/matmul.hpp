// Products by cuBLASLt: dense layers, y = x W with W as (features, units), and their two gradients;
// products of activations, and those of an update.
#pragma once

#include <castnet/device/cuda/context.hpp>
#include <castnet/device/cuda/element_type.hpp>
#include <castnet/device/cuda/epilogue.hpp>
#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/libraries.hpp>
#include <castnet/device/cuda/orthogonalize.hpp>
#include <castnet/device/cuda/small_weight.hpp>
#include <castnet/graph/batched_product.hpp>

namespace castnet::cuda {

// The types of a product's factors and result, and of its sums.
template <class T>
void set_types(cublas::product& p, array_ref const& result, context<T> const& c) {
    p.type = c.precision == product_precision::bf16 ? CUDA_R_16BF : element_type<T>::cublas;
    p.result = result.is_bf16 ? CUDA_R_16BF : element_type<T>::cublas;
    p.compute = p.type == CUDA_R_64F ? CUBLAS_COMPUTE_64F
                : p.type == CUDA_R_32F && c.precision == product_precision::tf32
                    ? CUBLAS_COMPUTE_32F_FAST_TF32
                    : CUBLAS_COMPUTE_32F;
}

template <class T>
cublas::product product_of(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const& first = t.arrays[s.first_array];
    bool const loops = s.loop >= 0; // one pixel of each sample
    std::ptrdiff_t const rows = c.samples * (loops ? 1 : first.size.pixels),
                         in = first.size.channels;
    cublas::product p;
    if (s.kind == op::matmul_weight) { // features x units
        p = {in, t.arrays[s.first_array + 1].size.channels, rows};
        p.transposed_a = true;
    } else {
        p = {rows, t.arrays[s.output].size.channels, in};
        p.transposed_b = s.kind == op::matmul_data;
    }
    set_types(p, t.arrays[s.output], c);
    if (loops) {
        p.a.row = first.size.count();
        p.d.row = t.arrays[s.output].size.count();
        p.alignment =
            cublas::common_alignment(in * cublas::bytes_of(p.type),
                                     t.arrays[s.output].size.channels * cublas::bytes_of(p.result));
    }
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
    if (is_small_weight(s, t)) {
        small_weight(s, t, c);
        return;
    }
    cublas::product const p = product_of(s, t, c);
    auto const at = [&](array_ref const& r, cudaDataType_t type) {
        bool const one = c.iteration < 0 || r.size.pixels == 1; // row of each sample, or all rows
        std::ptrdiff_t const first = one ? 0 : c.iteration * r.size.channels;
        return reinterpret_cast<char*>(c.at(r)) + first * cublas::bytes_of(type);
    };
    c.library->run(p, at(t.arrays[s.first_array], p.type), c.at(t.arrays[s.first_array + 1]),
                   at(t.arrays[s.output], p.result), bias_of(s, t, c));
}

// The products of activations. cuBLASLt takes matrices at one distance: where those of a sample's
// batch lie beside one another, in any of the three arrays, or all samples share some of them, they
// are multiplied number by number, each for all samples.
struct products_of_batch {
    cublas::product what;
    int calls = 1;
    std::ptrdiff_t a = 0, b = 0, d = 0; // elements from call to call
};

template <class T>
products_of_batch batch_of(kernel_launch const& s, tables const& t, context<T> const& c) {
    array_ref const &first = t.arrays[s.first_array], &second = t.arrays[s.first_array + 1],
                    &result = t.arrays[s.output];
    product_form const form = product_form::unpacked(s.attribute);
    batched_product const m = batched_product_of(form, first.size, second.size, result.size);
    bool const shared = c.samples > 1 && !(first.size.sample && second.size.sample);
    bool const together = !form.beside_a && !form.beside_b && !form.beside_c && !shared;
    auto const lies = [&](array_ref const& r, batched_matrix const& x) {
        return cublas::placement{r.size.channels, together ? x.next : r.size.sample_step()};
    };
    products_of_batch p;
    p.what = {m.c.rows, m.c.columns, m.a.columns};
    p.what.transposed_a = form.transposed_a;
    p.what.transposed_b = form.transposed_b;
    p.what.batch = static_cast<int>(c.samples) * (together ? form.batch : 1);
    p.what.a = lies(first, m.a);
    p.what.b = lies(second, m.b);
    p.what.d = lies(result, m.c);
    set_types(p.what, result, c);
    if (!together) {
        p.calls = form.batch;
        p.a = m.a.next;
        p.b = m.b.next;
        p.d = m.c.next;
        p.what.alignment = cublas::common_alignment(p.a * cublas::bytes_of(p.what.type),
                                                    p.b * cublas::bytes_of(p.what.type),
                                                    p.d * cublas::bytes_of(p.what.result));
    }
    return p;
}

template <class T>
void multiply_batch(kernel_launch const& s, tables const& t, context<T> const& c) {
    products_of_batch const p = batch_of(s, t, c);
    auto const at = [&](array_ref const& r, std::ptrdiff_t elements, cudaDataType_t type) {
        return reinterpret_cast<char*>(c.at(r)) + elements * cublas::bytes_of(type);
    };
    for (int i = 0; i < p.calls; ++i) {
        c.library->run(p.what, at(t.arrays[s.first_array], i * p.a, p.what.type),
                       at(t.arrays[s.first_array + 1], i * p.b, p.what.type),
                       at(t.arrays[s.output], i * p.d, p.what.result));
    }
}

// The products that make directions orthogonal: of arrays in T, whose factors cuBLASLt rounds as
// the policy says.
template <class T>
cublas::product product_of(matrix_product const& m, context<T> const& c) {
    cublas::product p{m.rows, m.columns, m.depth, m.transposed_a, m.transposed_b};
    p.type = p.result = element_type<T>::cublas;
    p.compute = p.type == CUDA_R_64F                     ? CUBLAS_COMPUTE_64F
                : c.precision == product_precision::bf16 ? CUBLAS_COMPUTE_32F_FAST_16BF
                : c.precision == product_precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                         : CUBLAS_COMPUTE_32F;
    return p;
}
template <class T>
void prepare_product(matrix_product const& m, context<T> const& c) {
    c.library->prepare(product_of(m, c));
}
template <class T>
void multiply_matrices(matrix_product const& m, T const* a, T const* b, T const* addend, T* d,
                       context<T> const& c) {
    c.library->run(product_of(m, c), a, b, d, nullptr, {m.of_product, m.of_addend, addend});
}

template <class T>
struct kernel_for<context<T>, op::batch_matmul> : function_kernel<context<T>, &multiply_batch<T>> {
};
template <class T>
struct kernel_for<context<T>, op::matmul> : function_kernel<context<T>, &multiply<T>> {};
template <class T>
struct kernel_for<context<T>, op::matmul_data> : function_kernel<context<T>, &multiply<T>> {};
template <class T>
struct kernel_for<context<T>, op::matmul_weight> : function_kernel<context<T>, &multiply<T>> {};

} // namespace castnet::cuda
