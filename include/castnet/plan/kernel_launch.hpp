// One kernel launch of a plan, as data; and stages, the launches that run in one loop.
#pragma once

#include <castnet/graph/node.hpp>
#include <castnet/plan/memory.hpp>

namespace castnet::ir {

// Where an array lies and what it looks like.
struct array_ref {
    region where{};
    std::ptrdiff_t offset = 0; // elements
    extents size{};
    // Elements from chunk to chunk where every chunk holds only those samples that it works on; 0
    // where all samples of the batch lie one after another.
    std::ptrdiff_t chunk_stride = 0;
    std::ptrdiff_t repeat_stride = 0; // elements from one repetition of a block to the next
    bool is_bf16 = false;             // its elements are bfloat16 (plan/mixed_precision.hpp)
    // Of an array that is some channels of a wider one, which only programs and concat read: the
    // channels there, and the first of them.
    int row = 0, first_channel = 0;

    CASTNET_HD constexpr int row_channels() const { return row > 0 ? row : size.channels; }

    // Elements from sample to sample.
    CASTNET_HD constexpr std::ptrdiff_t sample_stride() const {
        return row > 0 ? std::ptrdiff_t{size.pixels} * row : size.count();
    }
};

// Memory that a launch needs besides its operands and results, in elements.
struct scratch_size {
    std::ptrdiff_t shared = 0; // for all chunks together
    std::ptrdiff_t sums = 0;   // for each chunk, from the beginning of the stage to its end
    std::ptrdiff_t chunk = 0;  // for each chunk or worker, while the kernel runs
    // For its second operand, a weight, in another form: where there is any, only what prepares the
    // launch reads that operand.
    std::ptrdiff_t prepared = 0;

    constexpr scratch_size(std::ptrdiff_t for_all = 0, std::ptrdiff_t chunk_sums = 0,
                           std::ptrdiff_t chunk_scratch = 0, std::ptrdiff_t weight = 0)
        : shared{for_all}, sums{chunk_sums}, chunk{chunk_scratch}, prepared{weight} {}
};

// Epilogue of a product or convolution, applied to the result before it is stored; of a weight's
// gradient, another sum of its second factor.
struct epilogue {
    bool bias = false;      // a number for each channel is added
    bool activates = false; // and then a function of one argument applied
    fn activation{};
    bool bias_gradient = false; // the sums of each channel of the second factor

    constexpr bool does_anything() const { return bias || bias_gradient; }

    friend constexpr bool operator==(epilogue const&, epilogue const&) = default;
};

struct kernel_launch {
    op kind{};
    int program = -1;    // number of the fused program: of map and reduce, of an epilogue
    int phases = 1;      // of that program; several where it is by rows (plan/instruction.hpp)
    epilogue end{};      // with a bias, the operands are the factors, the result, the bias
    int output = 0;      // in plan::arrays
    int results = 1;     // arrays from there on: a pooling's argmax, a bias's gradient follow
    int first_array = 0; // the operands, in plan::arrays
    int arrays = 0;
    int first_scalar = 0; // in plan::scalars
    int scalars = 0;
    int window = -1;        // in plan::windows
    int attribute = 0;      // of the node, where the kernel reads it
    int loop = -1;          // the loop over time that it is a part of, or -1
    int repeat = -1;        // the repeated block that it is a part of, or -1
    int random_streams = 0; // of a repetition of that block
    double factor = 1;      // reduce
    extents space{};        // of a program: its index space; of a feedback: all steps
    extents weight{};       // of a product: its second factor's; a weight is units x features
    int scratch = -1;       // in plan::arrays, as the next three; -1 for none
    int sums = -1;
    int chunk_scratch = -1;
    int prepared = -1;
    bool once = false;            // computed only when parameters have changed
    bool constant_weight = false; // as is its second operand
    std::ptrdiff_t flops = 0;     // per sample, or in all where all samples share it
};

// Whether a launch is a fused program.
CASTNET_HD constexpr bool is_fused(kernel_launch const& s) {
    return s.kind == op::map || s.kind == op::reduce;
}

// Whether a launch computes anything of samples. Else it computes what all samples share, of what
// they share, as it would for a single one.
CASTNET_HD constexpr bool is_of_samples(kernel_launch const& s, array_ref const* arrays) {
    if (is_fused(s)) {
        return s.space.sample;
    }
    bool any = false;
    for (int k = 0; k < s.arrays + s.results; ++k) {
        any = any || arrays[k < s.arrays ? s.first_array + k : s.output + k - s.arrays].size.sample;
    }
    return any;
}

// Launches first to last - 1: one launch over the whole batch, or several that run one after
// another on a few samples at a time, so that what passes between them stays in the cache; or the
// body of a loop over time, whose launches compute one pixel of every sample in each iteration.
struct stage {
    int first = 0, last = 0;
    int samples_at_once = 0;  // 0: one launch over the whole batch, or a loop
    std::ptrdiff_t flops = 0; // per sample
    int device = 0;           // that runs it, in the order of the stages
    int after = -1;     // a copy: the stage of another device that makes its operand; -1 for none
    int iterations = 0; // of a loop
    bool backwards = false; // the last pixel comes first
    int repeat = -1; // the repeated block that it is a part of, all of whose stages run one after
                     // another in every repetition, or -1
    int repetitions = 1;
    bool last_repetition_first = false;
};

// The tables of a plan, without its sizes: what the numbers in a launch stand for.
struct launch_tables {
    array_ref const* arrays;
    double const* scalars;
    window const* windows;
};

} // namespace castnet::ir
