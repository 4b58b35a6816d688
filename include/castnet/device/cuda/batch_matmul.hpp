// Products of activations where cuBLASLt is out of reach: within the one block of a tiny network.
#pragma once

#include <castnet/device/cuda/kernel_for.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/stored.hpp>
#include <castnet/graph/batched_product.hpp>

namespace castnet::cuda {

// A thread computes an element.
template <class T>
struct batch_matmul_body {
    stored<T> a, b, c;
    batched_product of;
    std::ptrdiff_t a_sample, b_sample, c_sample; // elements; 0 where samples share a factor
    int batch;
    std::ptrdiff_t count;

    template <class Block>
    CASTNET_HD void operator()(Block const& block) const {
        for_each_index(block, count, [&](std::ptrdiff_t i) {
            std::ptrdiff_t const column = i % of.c.columns, row = i / of.c.columns % of.c.rows,
                                 number = i / of.c.columns / of.c.rows, k = number % batch,
                                 sample = number / batch;
            std::ptrdiff_t const left = sample * a_sample + k * of.a.next + row * of.a.row,
                                 right = sample * b_sample + k * of.b.next + column * of.b.column;
            T sum = 0;
            for (std::ptrdiff_t d = 0; d < of.a.columns; ++d) {
                sum += a.get(left + d * of.a.column) * b.get(right + d * of.b.row);
            }
            c.set(sample * c_sample + k * of.c.next + row * of.c.row + column, sum);
        });
    }
};

CASTNET_CALLS_UNCHECKED
template <class Context>
CASTNET_HD void batch_matmul(kernel_launch const& s, tables const& t, Context const& c) {
    using T = typename Context::value_type;
    array_ref const &first = t.arrays[s.first_array], &second = t.arrays[s.first_array + 1],
                    &result = t.arrays[s.output];
    product_form const form = product_form::unpacked(s.attribute);
    std::ptrdiff_t const count = c.samples * result.size.count();
    c.launch(grid_for(count),
             batch_matmul_body<T>{stored_at(c, first), stored_at(c, second), stored_at(c, result),
                                  batched_product_of(form, first.size, second.size, result.size),
                                  first.size.sample_step(), second.size.sample_step(),
                                  result.size.sample_step(), form.batch, count});
}

template <class Context>
struct kernel_for<Context, op::batch_matmul> : function_kernel<Context, &batch_matmul<Context>> {};

} // namespace castnet::cuda
