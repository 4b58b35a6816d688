// Kernel bodies as functors: plain structs of numbers and pointers, called with a block. On the GPU
// one kernel template runs every body; the tests run the same bodies on the host.
//
// A body has
//   template <class Block> CASTNET_HD void operator()(Block const& block) const
// and a block has thread(), threads(), index(), blocks() (in its grid), has_all_threads, whether it
// does only its part of what a grid is launched for, sync(), shared<T>(), the grid's shared memory
// of each block, and is_last(ticket, count): whether `count` blocks have called it with this ticket
// in global memory, this one the last of them; it sees what they have written, and the ticket is 0
// as before.
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

// The most threads of a block that runs this body: where it has a member `block_threads`, so many.
template <class Body>
inline constexpr unsigned threads_of = block_threads;
template <class Body>
    requires(Body::block_threads > 0)
inline constexpr unsigned threads_of<Body> = Body::block_threads;

// How many of these a multiprocessor has registers for, at least: `resident_blocks`, or 512 threads
// with 128 registers each. (Without that number, ptxas spills some of them to make room for more.)
template <class Body>
inline constexpr unsigned blocks_of = 512 / threads_of<Body>;
template <class Body>
    requires(Body::resident_blocks > 0)
inline constexpr unsigned blocks_of<Body> = Body::resident_blocks;

// A kernel launch: grid and body.
template <class Body>
struct kernel_call {
    grid where;
    Body body;
};

// Bytes of shared memory of a block without opt-in.
inline constexpr std::size_t default_shared_bytes = std::size_t{48} << 10;

// A grid with a thread for each of `count` work items, less than 2^31.
CASTNET_HD constexpr grid grid_for(std::ptrdiff_t count) {
    std::ptrdiff_t const blocks = (count + block_threads - 1) / block_threads;
    return {blocks < 1 ? 1 : static_cast<unsigned>(blocks), block_threads};
}

// Calls f(i) for this thread's i in [0, count): one, since grid_for(count) has a thread for each,
// or in a block that does the work of such a grid, several.
template <class Block, class F>
CASTNET_HD void for_each_index(Block const& block, std::ptrdiff_t count, F const& f) {
    auto const end = static_cast<unsigned>(count);
    if constexpr (Block::has_all_threads) {
        unsigned const i = block.index() * block_threads + block.thread();
        if (i < end) {
            f(i);
        }
    } else {
        unsigned i = block.index() * block.threads() + block.thread();
        for (; i < end; i += block.threads() * block.blocks()) {
            f(i);
        }
    }
}

// to[i] = f(i) for all of them, by however many threads the grid has; several at a time, so that
// none waits for another's loads.
template <class Block, class T, class F>
CASTNET_HD void store_each_index(Block const& block, std::ptrdiff_t count, T* to, F const& f) {
    constexpr unsigned at_once = 4;
    unsigned const end = static_cast<unsigned>(count), step = block.threads() * block.blocks();
    CASTNET_NO_UNROLL
    for (unsigned i = block.index() * block.threads() + block.thread(); i < end;
         i += at_once * step) {
        T value[at_once];
        CASTNET_UNROLL
        for (unsigned k = 0; k < at_once; ++k) {
            value[k] = i + k * step < end ? f(i + k * step) : T(0);
        }
        CASTNET_UNROLL
        for (unsigned k = 0; k < at_once; ++k) {
            if (i + k * step < end) {
                to[i + k * step] = value[k];
            }
        }
    }
}

// Calls f(i) for this thread's i of a block that does all of the work.
template <class Block, class F>
CASTNET_HD void for_each_in_block(Block const& block, std::ptrdiff_t count, F const& f) {
    for (std::ptrdiff_t i = block.thread(); i < count; i += block.threads()) {
        f(i);
    }
}

#ifdef __CUDACC__

struct device_block {
    static constexpr bool has_all_threads = true;
    __device__ unsigned thread() const { return threadIdx.x; }
    __device__ unsigned threads() const { return blockDim.x; }
    __device__ unsigned index() const { return blockIdx.x; }
    __device__ unsigned blocks() const { return gridDim.x; }
    __device__ void sync() const { __syncthreads(); }
    // (The fences stand beside the ticket, in its thread: barriers order what the block's other
    // threads have written before the first, and what they read then after the second.)
    __device__ bool is_last(unsigned* ticket, unsigned count) const {
        __syncthreads();
        bool last = false;
        if (threadIdx.x == 0) {
            __threadfence();
            last = atomicInc(ticket, count - 1) == count - 1;
            __threadfence();
        }
        return __syncthreads_or(last) != 0;
    }
    template <class T>
    __device__ T* shared() const {
        extern __shared__ double2 castnet_shared[];
        return reinterpret_cast<T*>(castnet_shared);
    }
};

// (The body stays where arguments are: its arrays can be indexed there.)
template <class Body>
__global__ void __launch_bounds__(threads_of<Body>, blocks_of<Body>)
    run_body(__grid_constant__ Body const body) {
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
