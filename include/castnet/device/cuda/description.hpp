// Descriptions of the GPUs that the program sees.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/device/cuda/error.hpp>

#include <cstddef>
#include <string>

namespace castnet::cuda {

struct device_description {
    std::string name;
    int major = 0, minor = 0; // compute capability
    int multiprocessors = 0;
    std::size_t bytes = 0; // of memory
};

// How many GPUs the program sees (CUDA_VISIBLE_DEVICES); 0 without a driver, too.
inline int device_count() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return count;
}

// Throws castnet::error if there is no such GPU.
inline device_description describe_device(int index = 0) {
    cudaDeviceProp p{};
    CASTNET_CUDA(cudaGetDeviceProperties(&p, index));
    return {p.name, p.major, p.minor, p.multiProcessorCount, p.totalGlobalMem};
}

// What libraries look at when they list plans, in a line.
inline std::string text_of(device_description const& d) {
    return string_of({d.name, " (compute capability ", d.major, '.', d.minor, ", ",
                      d.multiprocessors, " multiprocessors)"});
}

// Of the GPU that is current.
inline std::string text_of_current_device() {
    int index = 0;
    CASTNET_CUDA(cudaGetDevice(&index));
    return text_of(describe_device(index));
}

} // namespace castnet::cuda
