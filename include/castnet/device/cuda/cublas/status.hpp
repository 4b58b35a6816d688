// Errors of cuBLASLt as exceptions.
#pragma once

#include <castnet/device/cuda/error.hpp>

#include <cublasLt.h>

namespace castnet::cuda {

inline void check(cublasStatus_t status, char const* call, char const* file, int line) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        fail(call,
             (std::string(cublasLtGetStatusName(status)) + ", " + cublasLtGetStatusString(status))
                 .c_str(),
             file, line);
    }
}

} // namespace castnet::cuda
