// Blocks of zeroed memory on the GPU, and page-locked on the host for asynchronous copies.
//
// castnet never waits for a whole GPU (cudaDeviceSynchronize) and never uses the default stream:
// either would end another thread's capture.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/device/cuda/error.hpp>
#include <castnet/device/cuda/launch.hpp>
#include <castnet/device/cuda/owned.hpp>
#include <castnet/device/cuda/stream.hpp>

#include <cstddef>
#include <cstring>
#include <string>

namespace castnet::cuda {

// Memory of the current device, aligned to alignment_bytes.
struct gpu_memory {
    static cudaError_t allocate(void** p, std::size_t bytes) { return cudaMalloc(p, bytes); }
    static void clear(void* p, std::size_t bytes) {
        stream const own;
        CASTNET_CUDA(cudaMemsetAsync(p, 0, bytes, own.get()));
        own.wait();
    }
    static void release(void* p) { cudaFree(p); }
    static std::string missing() {
        std::size_t free = 0, total = 0;
        CASTNET_CUDA(cudaMemGetInfo(&free, &total));
        return string_of({"the GPU has ", free, " bytes free of its ", total,
                          "; use a smaller batch, or end what else runs there"});
    }
};

// Page-locked host memory.
struct page_locked_memory {
    static cudaError_t allocate(void** p, std::size_t bytes) { return cudaMallocHost(p, bytes); }
    static void clear(void* p, std::size_t bytes) { std::memset(p, 0, bytes); }
    static void release(void* p) { cudaFreeHost(p); }
    static std::string missing() {
        return "the host does not give as much page-locked memory; use a smaller batch, or allow "
               "more (ulimit -l)";
    }
};

// Thrown if there is too little memory.
struct out_of_memory : error {
    using error::error;
};

// Throws out_of_memory that names the purpose if there is too little memory.
template <class Kind>
class block_of {
public:
    block_of() = default;
    explicit block_of(std::size_t bytes, char const* what = "an array") : bytes_{bytes} {
        if (bytes == 0) {
            return;
        }
        void* p = nullptr;
        cudaError_t const status = Kind::allocate(&p, bytes);
        if (status == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            throw out_of_memory(
                {"castnet: ", what, " takes ", bytes, " bytes, but ", Kind::missing()});
        }
        CASTNET_CUDA(status);
        data_ = data{p};
        Kind::clear(p, bytes);
    }

    template <class T>
    T* as(std::ptrdiff_t offset = 0) const {
        return static_cast<T*>(data_.get()) + offset;
    }
    std::size_t bytes() const { return bytes_; }

private:
    using data = owned<void*, Kind::release>;
    std::size_t bytes_ = 0;
    data data_;
};

using memory = block_of<gpu_memory>;
using pinned_memory = block_of<page_locked_memory>;

} // namespace castnet::cuda
