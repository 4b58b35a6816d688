// Products of activations: one for each matrix of a sample's batch.
#pragma once

#include <castnet/device/cpu/matmul.hpp>
#include <castnet/graph/batched_product.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

// Threads share the matrices, or each matrix where these are fewer.
template <class F>
void batch_matmul(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    array_ref const &first = t.arrays[s.first_array], &second = t.arrays[s.first_array + 1],
                    &result = t.arrays[s.output];
    product_form const form = product_form::unpacked(s.attribute);
    batched_product const p = batched_product_of(form, first.size, second.size, result.size);
    std::ptrdiff_t const batch = form.batch, count = c.samples * batch;
    auto const one = [&](std::ptrdiff_t i) {
        std::ptrdiff_t const sample = i / batch, k = i % batch;
        auto const place = [&](array_ref const& r, batched_matrix const& m) {
            return c.at(r) + sample * r.size.count() + k * m.next;
        };
        with_factors<F>(std::min(p.c.rows, p.a.columns), p.c.columns, [&]<class Factor>() {
            multiply<Factor>(
                p.c.rows, p.c.columns, p.a.columns, {place(first, p.a), p.a.row, p.a.column},
                {place(second, p.b), p.b.row, p.b.column}, place(result, p.c), p.c.row);
        });
    };
    if (count < thread_count()) {
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            one(i);
        }
    } else {
        parallel_for(count, double(c.samples * s.flops), one);
    }
}

template <class F>
struct kernel_for<F, op::batch_matmul> : function_kernel<sum_type<F>, &batch_matmul<F>> {};

} // namespace castnet::cpu::inline CASTNET_TARGET
