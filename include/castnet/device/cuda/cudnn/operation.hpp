// Convolutions as operation graphs of cuDNN. Images lie as (samples, height, width, channels),
// weights as (filters, height, width, channels / groups).
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/device/cuda/cudnn/convolution.hpp>
#include <castnet/device/cuda/cudnn/target.hpp>
#include <castnet/graph/operations.hpp>

namespace castnet::cuda::cudnn {

// Identifiers of the tensors of an operation graph.
enum tensor_id : std::int64_t {
    image_id = 1,
    weight_id = 2,
    result_id = 3,
    bias_id = 4,
    product_id = 5, // virtual: before the bias
    sum_id = 6      // and before the activation
};

// cuDNN orders extents as (samples, channels, height, width) in every layout.
inline descriptor channels_last(std::int64_t id, std::int64_t n, std::int64_t c, std::int64_t h,
                                std::int64_t w, cudnnDataType_t type, bool within_kernel = false) {
    descriptor d{CUDNN_BACKEND_TENSOR_DESCRIPTOR};
    d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    d.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
    d.set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::vector<std::int64_t>{n, c, h, w});
    d.set(CUDNN_ATTR_TENSOR_STRIDES, std::vector<std::int64_t>{h * w * c, 1, w * c, c});
    d.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16}); // of arrays in the arena
    d.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, within_kernel);
    d.finalize();
    return d;
}

// Size of an element.
constexpr int bytes_of(cudnnDataType_t type) {
    return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_BFLOAT16 ? 2 : 4;
}

constexpr char const* name_of(cudnnDataType_t type) {
    return type == CUDNN_DATA_DOUBLE     ? "double"
           : type == CUDNN_DATA_BFLOAT16 ? "bfloat16"
                                         : "float";
}

// The most bytes of workspace that an algorithm may have: 256 MiB, or in full precision as much as
// all arrays, for that many copies of them. (The engines that do without tensor cores and are fast
// transpose images and weights in their workspace; an H200 has taken 27 times as long as PyTorch
// with others.)
constexpr std::int64_t workspace_limit(convolution const& c) {
    window const& w = c.geometry;
    std::int64_t const usual = std::int64_t{256} << 20,
                       images = c.samples * (std::int64_t{w.height} * w.width * w.channels +
                                             std::int64_t{w.out_height} * w.out_width * w.filters),
                       weights = std::int64_t{w.kernel_h} * w.kernel_w * w.channels * w.filters,
                       copies = (images + 2 * weights) * bytes_of(c.type) + (std::int64_t{1} << 20);
    return !c.tensor_cores && copies > usual ? copies : usual;
}

// The convolution as a line of text, for messages and as a key.
inline std::string text_of(convolution const& c) {
    window const& w = c.geometry;
    return string_of({operation_of(c.kind).name,
                      " of ",
                      c.samples,
                      " images of ",
                      w.channels,
                      " x ",
                      w.height,
                      " x ",
                      w.width,
                      ", ",
                      w.filters,
                      " filters of ",
                      w.kernel_h,
                      " x ",
                      w.kernel_w,
                      ", strides ",
                      w.stride_h,
                      " and ",
                      w.stride_w,
                      ", padding ",
                      w.pad_top,
                      ", ",
                      w.pad_left,
                      ", ",
                      w.pad_bottom,
                      " and ",
                      w.pad_right,
                      ", dilation ",
                      w.dilation_h,
                      " and ",
                      w.dilation_w,
                      ", ",
                      w.groups,
                      " groups, ",
                      name_of(c.type),
                      c.tensor_cores ? ", tensor cores" : "",
                      c.bias ? ", bias" : "",
                      c.relu ? ", relu" : ""});
}

namespace detail {

// Type of sums and of intermediate tensors in a kernel.
inline cudnnDataType_t accumulator(convolution const& c) {
    return c.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

inline descriptor sliding(convolution const& c) {
    using pair = std::vector<std::int64_t>;
    window const& w = c.geometry;
    descriptor d{CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR};
    d.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, accumulator(c));
    d.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
    d.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
    d.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, pair{w.pad_top, w.pad_left});
    d.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, pair{w.pad_bottom, w.pad_right});
    d.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, pair{w.stride_h, w.stride_w});
    d.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, pair{w.dilation_h, w.dilation_w});
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

// y = mode(x, b), or mode(x) without b.
inline descriptor pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t accumulator,
                            descriptor const& x, descriptor const* b, descriptor const& y) {
    descriptor m{CUDNN_BACKEND_POINTWISE_DESCRIPTOR};
    m.set(CUDNN_ATTR_POINTWISE_MODE, mode);
    m.set(CUDNN_ATTR_POINTWISE_MATH_PREC, accumulator);
    m.finalize();
    descriptor d{CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR};
    d.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, m);
    d.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b) {
        d.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b);
    }
    d.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    d.finalize();
    return d;
}

} // namespace detail

// The operation graph: one operation, with bias and relu up to three, fused into one kernel.
inline descriptor graph_of(convolution const& c, target const& where) {
    window const& w = c.geometry;
    cudnnDataType_t const accumulator = detail::accumulator(c);
    auto const result = [&](tensor_id id) {
        bool const within = id != result_id;
        return channels_last(id, c.samples, w.filters, w.out_height, w.out_width,
                             within ? accumulator : c.type, within);
    };
    descriptor const product = result(c.bias ? product_id : result_id);

    detail::convolution_names const name = detail::names_of(c.kind);
    std::vector<descriptor> operations;
    descriptor& d = operations.emplace_back(name.operation);
    d.set(name.image, channels_last(image_id, c.samples, w.channels, w.height, w.width, c.type));
    d.set(name.weight, channels_last(weight_id, w.filters, w.channels / w.groups, w.kernel_h,
                                     w.kernel_w, c.type));
    d.set(name.result, product);
    d.set(name.sliding, detail::sliding(c));
    if (accumulator == CUDNN_DATA_DOUBLE) {
        d.set(name.alpha, 1.0);
        d.set(name.beta, 0.0);
    } else {
        d.set(name.alpha, 1.0F);
        d.set(name.beta, 0.0F);
    }
    d.finalize();
    if (c.bias) {
        descriptor const bias = channels_last(bias_id, 1, w.filters, 1, 1, c.type);
        descriptor const sum = result(c.relu ? sum_id : result_id);
        operations.push_back(
            detail::pointwise(CUDNN_POINTWISE_ADD, accumulator, product, &bias, sum));
        if (c.relu) {
            operations.push_back(detail::pointwise(CUDNN_POINTWISE_RELU_FWD, accumulator, sum,
                                                   nullptr, result(result_id)));
        }
    }

    std::vector<cudnnBackendDescriptor_t> raw;
    for (descriptor const& o : operations) {
        raw.push_back(o.get());
    }
    descriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
              static_cast<std::int64_t>(raw.size()), raw.data());
    where.apply_to_graph(graph);
    graph.finalize();
    return graph;
}

} // namespace castnet::cuda::cudnn
