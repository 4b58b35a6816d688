// Kernel bodies as functors: plain structs of numbers and pointers, called with a block. On the GPU
// one kernel template runs every body; the tests run the same bodies on the host.
//
// A body has
//   template <class Block> CASTNET_HD void operator()(Block const& block) const
// and a block has thread(), threads(), index(), blocks() (in its grid), sync(), and shared<T>(),
// the grid's shared memory of each block.
#pragma once

#include <castnet/core/annotations.hpp>
#include <castnet/device/cuda/tuning.hpp>

#include <cstddef>

#ifdef __CUDACC__
#include <castnet/device/cuda/error.hpp>
#endif

namespace castnet::cuda {

// Alignment in bytes of the arrays of kernels and libraries.
inline constexpr std::size_t alignment_bytes = 256;

struct grid {
    unsigned blocks = 1;
    unsigned threads = 256;
    std::size_t shared_bytes = 0;
};

// A kernel launch: grid and body.
template <class Body>
struct kernel_call {
    grid where;
    Body body;
};

// Bytes of shared memory of a block without opt-in.
inline constexpr std::size_t default_shared_bytes = std::size_t{48} << 10;

// A grid with a thread for each of `count` work items, at most max_blocks blocks.
CASTNET_HD constexpr grid grid_for(std::ptrdiff_t count) {
    std::ptrdiff_t const blocks = (count + block_threads - 1) / block_threads;
    return {blocks < 1                            ? 1
            : blocks < std::ptrdiff_t{max_blocks} ? static_cast<unsigned>(blocks)
                                                  : max_blocks,
            block_threads};
}

// Calls f(i) for this thread's i in [0, count) (grid-stride loop).
template <class Block, class F>
CASTNET_HD void for_each_index(Block const& block, std::ptrdiff_t count, F const& f) {
    auto const all = std::ptrdiff_t{block.threads()} * block.blocks();
    for (std::ptrdiff_t i = std::ptrdiff_t{block.index()} * block.threads() + block.thread();
         i < count; i += all) {
        f(i);
    }
}

#ifdef __CUDACC__

struct device_block {
    __device__ unsigned thread() const { return threadIdx.x; }
    __device__ unsigned threads() const { return blockDim.x; }
    __device__ unsigned index() const { return blockIdx.x; }
    __device__ unsigned blocks() const { return gridDim.x; }
    __device__ void sync() const { __syncthreads(); }
    template <class T>
    __device__ T* shared() const {
        extern __shared__ double2 castnet_shared[];
        return reinterpret_cast<T*>(castnet_shared);
    }
};

// (The body stays where arguments are: its arrays can be indexed there.)
template <class Body>
__global__ void run_body(__grid_constant__ Body const body) {
    body(device_block{});
}

template <class Body>
void launch(cudaStream_t stream, grid const& g, Body const& body) {
    if (g.shared_bytes > default_shared_bytes) {
        CASTNET_CUDA(cudaFuncSetAttribute(run_body<Body>,
                                          cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(g.shared_bytes)));
    }
    run_body<<<g.blocks, g.threads, g.shared_bytes, stream>>>(body);
    CASTNET_CUDA(cudaGetLastError());
}

#endif

} // namespace castnet::cuda
