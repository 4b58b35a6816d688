// Element types of the CUDA libraries.
#pragma once

#include <castnet/core/language.hpp>

#include <cublasLt.h>
#include <cudnn.h>

namespace castnet::cuda {

template <class T>
struct element_type;
template <>
struct element_type<float> {
    static constexpr cudnnDataType_t cudnn = CUDNN_DATA_FLOAT;
    static constexpr cudaDataType_t cublas = CUDA_R_32F;
};
template <>
struct element_type<double> {
    static constexpr cudnnDataType_t cudnn = CUDNN_DATA_DOUBLE;
    static constexpr cudaDataType_t cublas = CUDA_R_64F;
};

} // namespace castnet::cuda
