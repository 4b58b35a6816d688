// Errors of cuBLASLt as exceptions.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/device/cuda/error.hpp>

#include <cublasLt.h>

namespace castnet::cuda {

inline void check(cublasStatus_t status, char const* call, char const* file, int line) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        fail(call,
             string_of({cublasLtGetStatusName(status), ", ", cublasLtGetStatusString(status)}),
             file, line);
    }
}

} // namespace castnet::cuda
