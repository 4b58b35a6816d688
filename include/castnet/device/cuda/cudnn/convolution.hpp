// Convolution as cuDNN describes it.
#pragma once

#include <castnet/device/ir.hpp>

#include <cstdint>
#include <cudnn.h>

namespace castnet::cuda::cudnn {

// A convolution, or its gradient with respect to the input or the weights.
struct convolution {
    op kind = op::conv; // conv, conv_data or conv_weight
    window geometry;
    std::int64_t samples = 0;
    cudnnDataType_t type = CUDNN_DATA_FLOAT; // of images and weights
    bool tensor_cores = false;               // float: factors may be rounded to TF32
    bool bias = false;                       // conv: adds a number for each filter
    bool relu = false;                       // and then applies relu

    friend bool operator==(convolution const&, convolution const&) = default;
};

} // namespace castnet::cuda::cudnn
