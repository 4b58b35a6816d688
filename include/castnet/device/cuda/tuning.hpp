// Tuning constants of the CUDA kernels. None of them has been measured on a GPU yet.
#pragma once

#include <castnet/core/language.hpp>

#include <cstddef>

namespace castnet::cuda {

// The most threads of a block: they fit a multiprocessor whatever registers they use.
inline constexpr unsigned block_threads = 256;
inline constexpr unsigned max_blocks = 2048; // a few waves on the largest GPUs; loops do the rest

// Threads of a block that computes a tile of attention.
inline constexpr unsigned attention_threads = 128;

// The most parts of a reduction, whose results a second phase adds up.
inline constexpr std::ptrdiff_t max_splits = 128;

// Shared memory that a block may have on every GPU from compute capability 8.0 on, and more work
// than which one multiprocessor is not given (one_block.hpp).
inline constexpr std::ptrdiff_t one_block_bytes = std::ptrdiff_t{96} << 10;
inline constexpr std::ptrdiff_t one_block_flops = std::ptrdiff_t{4} << 20;

// What the arguments of a kernel may take, from CUDA 12.1 and compute capability 7.0 on.
inline constexpr std::size_t argument_bytes = 32764;

// Algorithms of a library's list that are timed (policy::autotuned).
inline constexpr std::size_t timed_algorithms = 8;

} // namespace castnet::cuda
