// Check for a GPU and its driver, before the first use.
#pragma once

#include <castnet/device/cuda/error.hpp>

namespace castnet::cuda {

// Makes this GPU the calling thread's current one and returns its index. Throws castnet::error with
// advice if there is no driver or no such GPU: `who` asked for it, `instead` works without.
inline int open_gpu(int index, char const* who, char const* instead) {
    int count = 0;
    cudaError_t const status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) {
        cudaGetLastError();
        throw error({"castnet: ", who, " finds no GPU: ", cudaGetErrorString(status),
                     "; install NVIDIA's driver, make a GPU visible (CUDA_VISIBLE_DEVICES), or "
                     "use ",
                     instead});
    }
    if (index < 0 || index >= count) {
        throw error({"castnet: ", who, " was given GPU ", index, ", but the program sees ", count,
                     "; choose another, or change CUDA_VISIBLE_DEVICES"});
    }
    CASTNET_CUDA(cudaSetDevice(index));
    return index;
}

} // namespace castnet::cuda
