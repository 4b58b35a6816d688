// Which loops over time are one kernel, and the shared memory of its blocks.
#pragma once

#include <castnet/core/bfloat16.hpp>
#include <castnet/device/cuda/block_product.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/loop_slots.hpp>
#include <castnet/device/cuda/tuning.hpp>
#include <castnet/device/ir.hpp>
#include <castnet/plan/instruction.hpp>

#include <cstddef>

namespace castnet::cuda {

// Samples whose loop one block runs.
constexpr int samples_of_loop_block(int batch) {
    return (batch + loop_blocks - 1) / loop_blocks;
}

// A product of some samples in an iteration of a loop: of their rows, which lie one after another
// once they are in shared memory, and a weight, whose columns adjoin there.
CASTNET_HD constexpr product_shape loop_product_of(kernel_launch const& s, array_ref const* arrays,
                                                   int samples) {
    extents const to = arrays[s.output].size;
    product_shape shape = block_product_of(s, arrays, samples);
    shape.rows = samples;
    shape.c_row = to.pixels * to.channels;
    shape.b_row = shape.columns;
    shape.b_step = 1;
    return shape;
}

// One after the other, in elements: what bodies need themselves, factors of products, weights, and
// arrays of one step.
struct loop_memory {
    std::ptrdiff_t scratch = 0, factors = 0, weights = 0, slots = 0;

    CASTNET_HD constexpr std::ptrdiff_t before_slots() const { return scratch + factors + weights; }
    constexpr std::ptrdiff_t all() const { return before_slots() + slots; }
};
template <class T>
inline constexpr std::ptrdiff_t most_of_loop = one_block_bytes / std::ptrdiff_t{sizeof(T)};

// Elements that the weight of a product takes, in its own type.
template <class T>
constexpr std::ptrdiff_t weight_in_loop(kernel_launch const& s, array_ref const* arrays) {
    array_ref const& weight = arrays[s.first_array + 1];
    std::ptrdiff_t const bytes =
        weight.size.count() *
        static_cast<std::ptrdiff_t>(weight.is_bf16 ? sizeof(bfloat16) : sizeof(T));
    constexpr auto unit = static_cast<std::ptrdiff_t>(alignment_bytes);
    return (bytes + unit - 1) / unit * unit / static_cast<std::ptrdiff_t>(sizeof(T));
}

template <class T, class Plan>
constexpr loop_memory memory_of_loop(Plan const& p, stage const& g) {
    loop_memory m;
    int const samples = samples_of_loop_block(p.batch);
    auto const grow = [](std::ptrdiff_t& x, std::ptrdiff_t to) { x = to > x ? to : x; };
    for (int i = g.first; i < g.last; ++i) {
        kernel_launch const& s = p.launch(i);
        if (s.kind == op::reduce) { // at most 16 bytes for each thread and array
            grow(m.scratch, 16 / std::ptrdiff_t{sizeof(T)} * block_threads * s.results);
        } else if (is_matmul(s.kind)) {
            product_shape const shape = loop_product_of(s, p.arrays, samples);
            grow(m.scratch, tiling_of(shape).scratch());
            grow(m.factors, std::ptrdiff_t{samples} * shape.depth);
            m.weights += weight_in_loop<T>(s, p.arrays);
        }
    }
    constexpr auto unit = static_cast<std::ptrdiff_t>(alignment_bytes / sizeof(T));
    m.scratch = aligned(m.scratch > 0 ? m.scratch : 1, unit); // (barriers ask for some)
    m.factors = aligned(m.factors, unit);
    std::ptrdiff_t const slots = slots_of_loop<T>(p, g, samples).elements;
    m.slots = m.all() + slots <= most_of_loop<T> ? slots : 0;
    return m;
}

// Whether a block can run this launch of a loop for some of the samples.
template <class Plan>
constexpr bool runs_in_loop_kernel(Plan const& p, kernel_launch const& s) {
    for (int k = 0; k < s.arrays + s.results; ++k) {
        array_ref const& r = p.array(k < s.arrays ? s.first_array + k : s.output + k - s.arrays);
        bool const is_weight = k > 0 && k < s.arrays;
        if (!r.size.sample && !is_weight && s.kind != op::map && s.kind != op::reduce) {
            return false;
        }
    }
    switch (s.kind) {
    case op::map:
    case op::reduce:
        return s.space.sample && s.phases == 1;
    case op::matmul:
    case op::matmul_data:
        return !p.array(s.first_array + 1).size.sample;
    case op::concat:
    case op::slice:
    case op::slice_gradient:
    case op::feedback:
        return true;
    default:
        return false;
    }
}

template <class Plan>
constexpr bool has_loops(Plan const& p) {
    for (stage const& g : p.stages) {
        if (g.iterations > 1) {
            return true;
        }
    }
    return false;
}

// The one place that decides which loops are one kernel: those whose weights fit a block's shared
// memory, and whose steps are small enough for a block.
template <class T, class Plan>
constexpr bool is_loop_kernel(Plan const& p, stage const& g) {
    if (g.iterations <= 1) { // first, since nvcc keeps memory for what it evaluates
        return false;
    }
    int const samples = samples_of_loop_block(p.batch);
    for (int i = g.first; i < g.last; ++i) {
        kernel_launch const& s = p.launch(i);
        std::ptrdiff_t const elements =
            std::ptrdiff_t{samples} * p.array(s.output).size.channels; // of a step
        if (!runs_in_loop_kernel(p, s) || elements > loop_block_elements) {
            return false;
        }
    }
    return memory_of_loop<T>(p, g).all() <= most_of_loop<T>;
}

} // namespace castnet::cuda
