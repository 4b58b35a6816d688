// Exceptions for failed calls of CUDA and its libraries. check() has an overload for the status of
// each library, beside what wraps that library.
#pragma once

#include <castnet/core/error.hpp>
#include <castnet/core/text.hpp>

#include <cuda_runtime_api.h>
#include <string>

namespace castnet::cuda {

// Throws castnet::error with the failed call, its error, and its source location.
[[noreturn]] inline void fail(char const* call, text_piece says, char const* file, int line) {
    throw error({"castnet: ", call, " failed: ", says, " (", file, ":", line, ")"});
}

inline void check(cudaError_t status, char const* call, char const* file, int line) {
    if (status != cudaSuccess) {
        cudaGetLastError(); // so that the next call does not report it again
        fail(call, string_of({cudaGetErrorName(status), ", ", cudaGetErrorString(status)}), file,
             line);
    }
}

} // namespace castnet::cuda

#define CASTNET_CUDA(...) ::castnet::cuda::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
