// One operation of a traced network, as a plain value.
#pragma once

#include <castnet/expr/function.hpp>
#include <castnet/graph/extents.hpp>

#include <cstddef>

namespace castnet {

enum class op : std::uint8_t {
    // sources: filled from outside the step
    input,
    target,
    sample_weight,
    sample_count,
    scalar, // of a loss or metric; see graph/scalar.hpp
    parameter,
    // sources that a kernel computes where it needs them
    constant,
    index,
    sample_mask,
    bernoulli,
    normal,
    // element-wise functions and reductions
    map,
    reduce,
    // operations with kernels of their own; the gradients follow their operation
    matmul,
    matmul_data,
    matmul_weight,
    batch_matmul,           // of two activations; its gradients are such products again
    attention,              // of all heads; see graph/op/attention.hpp
    attention_log_sum_exp,  // of the scores of each query, made by attention's own kernel
    attention_gradient,     // of the queries
    attention_key_gradient, // of the keys, then of the values; made by attention_gradient's kernel
    conv,
    conv_data,
    conv_weight,
    max_pool,
    max_pool_argmax, // which pixel of each window was the largest; made by max_pool's own kernel
    max_pool_gradient,
    avg_pool,
    avg_pool_gradient,
    upsample,
    upsample_gradient,
    concat,
    slice,
    slice_gradient, // which pads with zeros
    reverse,
    gather_rows,
    scatter_rows,
    reshape,
    transpose,
    parameter_slice,
    parameter_slice_gradient,
    copy,     // of what another device computed; see graph/device_copies.hpp
    delay,    // the steps of a sequence, one step late; see graph/op/recurrence.hpp
    feedback, // ends a loop: which sequence a delay repeats
    carry,    // what one repetition leaves to the next; see graph/op/repeat.hpp
    repeated, // what the last repetition leaves
    cache,    // a sequence that grows by a step in each run of a plan; see graph/op/cache.hpp
    convert,  // from bfloat16, or to it; see graph/op/convert.hpp
    unfold,   // the places of a window along an axis become channels; see graph/op/unfold.hpp
    fold,     // its gradient
    cumulative_sum,
    weight_values, // in logical order; see graph/op/weight_values.hpp
    weight_values_gradient,
    count,
    // in no table of operations, as few programs need them: their nodes bring their entries along
    cholesky, // see graph/op/linear_algebra.hpp
    solve_triangular,
    triangular_factors,
    solve,
    determinant,
    own = 128 // the first of the numbers for operations of other programs
};

namespace ir {

// Random numbers.
constexpr bool is_drawn(op kind) {
    return kind == op::bernoulli || kind == op::normal;
}

// The next step of a loop reads what its operand is, or the next repetition of a block, which may
// be its only reader.
constexpr bool is_read_next(op kind) {
    return kind == op::feedback || kind == op::repeated;
}

CASTNET_HD constexpr bool is_matmul(op kind) {
    return kind == op::matmul || kind == op::matmul_data || kind == op::matmul_weight;
}
CASTNET_HD constexpr bool is_conv(op kind) {
    return kind == op::conv || kind == op::conv_data || kind == op::conv_weight;
}

enum class reduction : std::uint8_t { sum, max, log_sum_exp, argmax, strict_argmax };

// Convolution, pooling and up-sampling: the sizes of one image before and after, and the window.
// A sample is one image, or several that lie one after the other, the slices of a volume.
struct window {
    int channels = 0, height = 0, width = 0;        // of the input
    int filters = 0, out_height = 0, out_width = 0; // of the output
    int kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1;
    int pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
    int dilation_h = 1, dilation_w = 1, groups = 1;
    bool count_padding = false; // average pooling divides by the whole window
    bool adaptive = false;      // pooling: the windows share the image out, evenly up to a pixel
    bool bilinear = false;      // up-sampling interpolates
    int images = 1;             // of a sample

    friend constexpr bool operator==(window const&, window const&) = default;
};

inline constexpr int max_operands = 8;
inline constexpr int as_stored = 1; // a reshape that leaves the elements in their order in memory
inline constexpr int detached = 1;  // a reduction that differentiation takes for a constant

// How a node's value is kept in memory (graph/storage.hpp).
enum class storage : std::uint8_t {
    array,
    one_step,  // in a loop over time: that of the step in progress
    in_place,  // of a slice: where its operand is, as some of the channels there
    over_slice // of an element-wise function: where such a slice is, which nobody reads afterwards
};

struct operation_entry;
struct function_entry;

struct node {
    op kind{};
    fn function{};       // map
    reduction reduce{};  // reduce
    int derivative = -1; // map: by which input, times the gradient that arrives; -1
                         // for the value. in: the inputs, the value, the gradient
    int operands = 0;
    int in[max_operands] = {-1, -1, -1, -1, -1, -1, -1, -1}; // reduce: what, times what (or -1)
    extents size{};
    double scalar = 1; // constant: value; reduce, sample_mask: factor; bernoulli, attention: keep
    // window: index in graph::windows. parameter: index in graph::parameters. input, target: which.
    // scalar: which. bernoulli, normal: number of the random stream. slice and its gradient: first
    // channel. batch_matmul: a product_form. solve_triangular: a triangle_form. solve: 1 of the
    // transposed matrix, else 0. attention and its gradient: an attention_form.
    // reverse: how many channels move together. cumulative_sum: 1, or -1 from the last channel on.
    // gather_rows and its gradient: the row without one, or -1. cache: its number. reshape:
    // as_stored or -1. reduce: detached or -1. map of normalize: the node of sample_mask if the
    // statistics are those of the batch, else -1; stored over_slice: that slice. delay, feedback:
    // 1, or -1 where the loop runs backwards in time.
    int attribute = -1;
    storage stored{};
    int loop = -1;         // the number of the loop over time that it belongs to (graph/loops.hpp)
    int repeat = -1;       // the number of its repeated block (graph/repeated_block.hpp)
    int device = 0;        // of the policy's, where it is computed; a parameter's home
    bool backward = false; // of the backward pass of the loss
    // Of operations that are in no table, and of functions that are not castnet's own
    // (graph/operation.hpp).
    operation_entry const* own = nullptr;
    function_entry const* own_function = nullptr;
};

} // namespace ir
} // namespace castnet
