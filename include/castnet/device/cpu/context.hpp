// Context of a CPU kernel: the memory and the arguments of a step.
#pragma once

#include <castnet/core/philox.hpp>
#include <castnet/core/target.hpp>
#include <castnet/cpu/factor.hpp>
#include <castnet/device/cpu/gradient_rows.hpp>
#include <castnet/device/cpu/tuning.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/device/pixel_rows.hpp>

#include <cstdint>
#include <span>

namespace castnet::cpu::inline CASTNET_TARGET {

template <class T>
struct context {
    T* region[ir::regions]{};   // by ir::region
    std::ptrdiff_t samples = 0; // for the kernel
    std::ptrdiff_t first = 0;   // index of the first of these in the batch
    std::ptrdiff_t chunk = 0;
    std::ptrdiff_t worker = 0;     // index of the chunk's memory while its samples are computed
    std::ptrdiff_t iteration = -1; // of a loop over time: the one pixel to compute; -1 for all
    std::ptrdiff_t repetition = 0; // of a repeated block
    philox_key key{};
    std::uint32_t step = 0;
    bool backwards = false;         // alternates from run to run: see alternating_row_product
    std::uint32_t first_sample = 0; // of the batch, in the batch of all replicas
    std::span<gradient_rows>
        tables{}; // whose rows the executor looks at; of others, all are written

    // Address of the first of the samples.
    T* at(array_ref const& r) const {
        std::ptrdiff_t const skipped = r.chunk_stride > 0 ? worker * r.chunk_stride
                                       : r.size.sample    ? first * r.sample_stride()
                                                          : 0;
        return region[static_cast<int>(r.where)] + r.offset + r.first_channel +
               repetition * r.repeat_stride + skipped;
    }
    // Of a table's gradient; nullptr for one that is not looked at.
    gradient_rows* rows_of_gradient(array_ref const& r) const {
        for (gradient_rows& each : tables) {
            if (r.where == ir::region::gradients &&
                each.offset() == r.offset + repetition * r.repeat_stride) {
                return &each;
            }
        }
        return nullptr;
    }
    // The chunk's part of a sum over samples.
    T* sum_at(array_ref const& r) const {
        return region[static_cast<int>(r.where)] + r.offset + chunk * r.chunk_stride;
    }
};

template <class T>
constexpr pixel_rows rows_of(extents size, context<T> const& c) {
    return ir::rows_of(size, c.samples, c.iteration);
}

using tables = launch_tables;

// The scratch memory for a launch that belongs to a thread: to that of the chunk, or to a worker of
// a loop within the launch; nullptr if the launch has none.
template <class T>
T* scratch_of(kernel_launch const& s, tables const& t, context<T> const& c,
              std::ptrdiff_t worker = 0) {
    if (s.chunk_scratch < 0) {
        return nullptr;
    }
    array_ref const& r = t.arrays[s.chunk_scratch];
    return c.at(r) + worker * r.chunk_stride;
}

// Scratch memory as factors of products: the plan counts elements, which are as long.
template <class F>
F* as_factors(sum_type<F>* scratch) {
    static_assert(sizeof(F) == sizeof(sum_type<F>));
    return reinterpret_cast<F*>(scratch);
}
template <class F>
F* factors_at(context<sum_type<F>> const& c, array_ref const& r) {
    return as_factors<F>(c.at(r));
}

// The number of chunks with samples, and each one's range: one sample per chunk if these are fewer
// than chunks, otherwise a fixed range.
constexpr std::ptrdiff_t chunks_in_use(std::ptrdiff_t samples) {
    return samples < chunks ? samples : chunks;
}
constexpr std::ptrdiff_t chunk_begin(std::ptrdiff_t samples, std::ptrdiff_t chunk) {
    return samples < chunks ? chunk : samples * chunk / chunks;
}

} // namespace castnet::cpu::inline CASTNET_TARGET
