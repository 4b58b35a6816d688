// Errors of cuDNN as exceptions.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/device/cuda/error.hpp>

#include <cudnn.h>

namespace castnet::cuda {

inline void check(cudnnStatus_t status, char const* call, char const* file, int line) {
    if (status != CUDNN_STATUS_SUCCESS) {
        char detail[512] = "";
        cudnnGetLastErrorString(detail, sizeof detail);
        fail(call, string_of({cudnnGetErrorString(status), ", ", detail}), file, line);
    }
}

} // namespace castnet::cuda
