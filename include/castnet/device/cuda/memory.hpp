// Blocks of zeroed memory: on the GPU, and on the host where copies to and from the GPU need not
// wait.
#pragma once

#include <castnet/device/cuda/error.hpp>
#include <castnet/device/cuda/launch.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

namespace castnet::cuda {

// On the device that is current; begins at a multiple of alignment_bytes. Throws castnet::error if
// there is too little.
class memory {
public:
    memory() = default;
    explicit memory(std::size_t bytes) : bytes_{bytes} {
        if (bytes == 0) {
            return;
        }
        void* p = nullptr;
        cudaError_t const status = cudaMalloc(&p, bytes);
        if (status == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            std::size_t free = 0, total = 0;
            CASTNET_CUDA(cudaMemGetInfo(&free, &total));
            throw error("castnet: the GPU has no room for " + std::to_string(bytes) +
                        " bytes: " + std::to_string(free) + " of its " + std::to_string(total) +
                        " are free; use a smaller batch, or end what else runs there");
        }
        CASTNET_CUDA(status);
        data_.reset(p);
        CASTNET_CUDA(cudaMemset(p, 0, bytes));
        CASTNET_CUDA(cudaDeviceSynchronize()); // other streams do not wait for the default one
    }

    template <class T>
    T* as(std::ptrdiff_t offset = 0) const {
        return static_cast<T*>(data_.get()) + offset;
    }
    std::size_t bytes() const { return bytes_; }

private:
    struct release {
        void operator()(void* p) const { cudaFree(p); }
    };
    std::size_t bytes_ = 0;
    std::unique_ptr<void, release> data_;
};

// Page-locked memory of the host.
class pinned_memory {
public:
    pinned_memory() = default;
    explicit pinned_memory(std::size_t bytes) : bytes_{bytes} {
        if (bytes > 0) {
            void* p = nullptr;
            CASTNET_CUDA(cudaMallocHost(&p, bytes));
            data_.reset(p);
            std::memset(p, 0, bytes);
        }
    }

    template <class T>
    T* as(std::ptrdiff_t offset = 0) const {
        return static_cast<T*>(data_.get()) + offset;
    }
    std::size_t bytes() const { return bytes_; }

private:
    struct release {
        void operator()(void* p) const { cudaFreeHost(p); }
    };
    std::size_t bytes_ = 0;
    std::unique_ptr<void, release> data_;
};

} // namespace castnet::cuda
