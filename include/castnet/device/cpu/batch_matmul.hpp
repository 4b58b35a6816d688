// Products of activations: one for each matrix of a sample's batch.
#pragma once

#include <castnet/device/cpu/matmul.hpp>
#include <castnet/graph/batched_product.hpp>

namespace castnet::cpu::inline CASTNET_TARGET {

// Threads share the matrices, or each matrix where these are fewer. A row of each sample times a
// matrix that all samples share is one of the rows of a product.
template <class F>
void batch_matmul(kernel_launch const& s, tables const& t, context<sum_type<F>> const& c) {
    array_ref const &first = t.arrays[s.first_array], &second = t.arrays[s.first_array + 1],
                    &result = t.arrays[s.output];
    product_form const form = product_form::unpacked(s.attribute);
    batched_product const p = batched_product_of(form, first.size, second.size, result.size);
    bool const joins = p.c.rows == 1 && first.size.sample && !second.size.sample;
    std::ptrdiff_t const batch = form.batch, count = joins ? batch : c.samples * batch;
    std::ptrdiff_t const rows = joins ? c.samples : p.c.rows,
                         a_row = joins ? first.size.sample_step() : p.a.row,
                         c_row = joins ? result.size.sample_step() : p.c.row;
    auto const one = [&](std::ptrdiff_t i) {
        std::ptrdiff_t const sample = i / batch, k = i % batch;
        auto const place = [&](array_ref const& r, batched_matrix const& m) {
            return c.at(r) + sample * r.size.sample_step() + k * m.next;
        };
        with_factors<F>(std::min(p.c.rows, p.a.columns), p.c.columns, [&]<class Factor>() {
            multiply<Factor>(rows, p.c.columns, p.a.columns, {place(first, p.a), a_row, p.a.column},
                             {place(second, p.b), p.b.row, p.b.column}, place(result, p.c), c_row);
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
struct kernel_for<F, op::batch_matmul> : function_kernel<sum_type<F>, &batch_matmul<F>> {
    static constexpr bool whole(kernel_launch const& s, window const*) { // where rows are joined
        return !s.weight.sample && s.flops == 2 * s.weight.count();
    }
};

} // namespace castnet::cpu::inline CASTNET_TARGET
