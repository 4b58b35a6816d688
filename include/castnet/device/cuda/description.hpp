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

// The number of visible GPUs (CUDA_VISIBLE_DEVICES); 0 without a driver.
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

// The properties of a GPU by which libraries list algorithms, in a line.
inline std::string text_of(device_description const& d) {
    return string_of({d.name, " (compute capability ", d.major, '.', d.minor, ", ",
                      d.multiprocessors, " multiprocessors)"});
}

// The same of the current GPU.
inline std::string text_of_current_device() {
    int index = 0;
    CASTNET_CUDA(cudaGetDevice(&index));
    return text_of(describe_device(index));
}

} // namespace castnet::cuda
