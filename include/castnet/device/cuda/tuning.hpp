// Tuning constants of the CUDA kernels.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>

namespace castnet::cuda {

// The most threads of a block: they fit a multiprocessor whatever registers they use.
inline constexpr unsigned block_threads = 256;

// Threads of a block that computes a tile of attention.
inline constexpr unsigned attention_threads = 128;

// Blocks of a reduction whose elements are split among them: two for each multiprocessor of the
// largest GPUs, which hold no more at once of those that need most registers. (On an H200, four
// times as many had a fixed cost of 25 µs, where many channels were joined four times as often.)
inline constexpr unsigned reduction_blocks = 264;
// Of such a reduction, the most groups of blocks that work on the same results.
inline constexpr std::size_t max_tickets = reduction_blocks / 2;
// And the most parts that they leave in memory, all together.
inline constexpr std::ptrdiff_t max_parts = std::ptrdiff_t{1} << 19;

// Shared memory that a block may have on every GPU from compute capability 8.0 on, and more work
// than which one multiprocessor is not given (one_block.hpp).
inline constexpr std::ptrdiff_t one_block_bytes = std::ptrdiff_t{96} << 10;
inline constexpr std::ptrdiff_t one_block_flops = std::ptrdiff_t{4} << 20;

// The most blocks that divide the samples of a loop that is one kernel (loop_memory.hpp): about as
// many as a large GPU has multiprocessors.
inline constexpr int loop_blocks = 128;
// The most elements that such a block computes at once: larger steps are launches, so that all
// multiprocessors work on them. (A guess; it has not been measured.)
inline constexpr std::ptrdiff_t loop_block_elements = 8192;

// Most bytes of a kernel's arguments, from CUDA 12.1 and compute capability 7.0 on.
inline constexpr std::size_t argument_bytes = 32764;

// Algorithms of a library's list that are timed (policy::autotuned).
inline constexpr std::size_t timed_algorithms = 8;

} // namespace castnet::cuda
