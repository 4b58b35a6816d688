// Convolutions as operation graphs of cuDNN. Images lie as (samples, height, width, channels),
// weights as (filters, height, width, channels / groups).
#pragma once

#include <castnet/device/cuda/cudnn/target.hpp>
#include <castnet/graph/node.hpp>

namespace castnet::cuda::cudnn {

// The names of tensors within a graph.
enum tensor_id : std::int64_t { image_id = 1, weight_id = 2, result_id = 3 };

// One of the three products that a convolution and its gradients are.
struct convolution {
    op kind = op::conv; // conv, conv_data or conv_weight
    window geometry;
    std::int64_t samples = 0;
    cudnnDataType_t type = CUDNN_DATA_FLOAT; // of images and weights
    bool tensor_cores = false;               // float: factors may be rounded to TF32

    friend bool operator==(convolution const&, convolution const&) = default;
};

// cuDNN orders extents as (samples, channels, height, width) however they lie.
inline descriptor channels_last(std::int64_t id, std::int64_t n, std::int64_t c, std::int64_t h,
                                std::int64_t w, cudnnDataType_t type) {
    descriptor d{CUDNN_BACKEND_TENSOR_DESCRIPTOR};
    d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
    d.set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::vector<std::int64_t>{n, c, h, w});
    d.set(CUDNN_ATTR_TENSOR_STRIDES, std::vector<std::int64_t>{h * w * c, 1, w * c, c});
    d.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16}); // as the arena places arrays
    d.finalize();
    return d;
}

// For messages.
inline std::string text_of(convolution const& c) {
    window const& w = c.geometry;
    auto const text = [](int n) { return std::to_string(n); };
    return std::string(name_of(c.kind)) + " of " + std::to_string(c.samples) + " images of " +
           text(w.channels) + " x " + text(w.height) + " x " + text(w.width) + ", " +
           text(w.filters) + " filters of " + text(w.kernel_h) + " x " + text(w.kernel_w) +
           ", strides " + text(w.stride_h) + " and " + text(w.stride_w) + ", dilation " +
           text(w.dilation) + ", " + text(w.groups) + " groups";
}

namespace detail {

inline descriptor sliding(convolution const& c) {
    using pair = std::vector<std::int64_t>;
    window const& w = c.geometry;
    descriptor d{CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR};
    d.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, // of sums
          c.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
    d.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
    d.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
    d.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, pair{w.pad_top, w.pad_left});
    d.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, pair{w.pad_bottom, w.pad_right});
    d.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, pair{w.stride_h, w.stride_w});
    d.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, pair{w.dilation, w.dilation});
    d.finalize();
    return d;
}

struct convolution_names {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t image, weight, result, sliding, alpha, beta;
};

inline convolution_names names_of(op kind) {
    switch (kind) {
    case op::conv_data:
        return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case op::conv_weight:
        return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
    default:
        return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    }
}

} // namespace detail

inline descriptor graph_of(convolution const& c, target const& where) {
    window const& w = c.geometry;
    detail::convolution_names const name = detail::names_of(c.kind);
    descriptor operation{name.operation};
    operation.set(name.image,
                  channels_last(image_id, c.samples, w.channels, w.height, w.width, c.type));
    operation.set(name.weight, channels_last(weight_id, w.filters, w.channels / w.groups,
                                             w.kernel_h, w.kernel_w, c.type));
    operation.set(name.result, channels_last(result_id, c.samples, w.filters, w.out_height,
                                             w.out_width, c.type));
    operation.set(name.sliding, detail::sliding(c));
    if (c.type == CUDNN_DATA_DOUBLE) {
        operation.set(name.alpha, 1.0);
        operation.set(name.beta, 0.0);
    } else {
        operation.set(name.alpha, 1.0F);
        operation.set(name.beta, 0.0F);
    }
    operation.finalize();

    descriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
    where.apply_to_graph(graph);
    graph.finalize();
    return graph;
}

} // namespace castnet::cuda::cudnn
