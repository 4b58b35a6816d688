// cuBLASLt and cuDNN on one stream: their handles, their workspace, and the algorithm chosen for
// each launch.
//
// The algorithm and workspace of a launch are chosen and allocated before its stream is captured:
// a device's prepare<Plan>() does so for all launches of a plan. Nothing is freed or chosen anew
// later, so that captured graphs stay valid.
#pragma once

#include <castnet/device/cuda/algorithm_order.hpp>
#include <castnet/device/cuda/cublas/product.hpp>
#include <castnet/device/cuda/cudnn/convolution.hpp>
#include <castnet/device/cuda/owned.hpp>
#include <castnet/device/cuda/stream.hpp>

#include <cstddef>

namespace castnet::cuda {

struct chosen_algorithm {
    int number = 0;            // its place in the library's list
    std::size_t workspace = 0; // bytes
    bool finishes = false; // a product with its epilogue, a convolution with bias and activation
};

class libraries {
public:
    explicit libraries(stream const& s, algorithm_order order = algorithm_order::as_listed);

    // The algorithm, chosen by the first call. Throws castnet::error if the library has none.
    chosen_algorithm prepare(cublas::product const& p);
    chosen_algorithm prepare(cudnn::convolution const& c);

    // Bytes of the workspace that the algorithms chosen so far need; reserve() allocates them. All
    // launches use the last block, one after the other; graphs may refer to older ones.
    std::size_t workspace_bytes() const;
    void reserve();

    // Enqueues d = a b, or another combination. `bias`: read by a product that adds one, or its
    // gradient's destination; prepare(p).finishes tells whether it was used.
    void run(cublas::product const& p, void const* a, void const* b, void* d,
             void const* bias = nullptr, cublas::combination const& sum = {});
    // Enqueues the convolution. For conv and conv_data `weight` is read, for conv_weight written;
    // `image` is the input or its gradient, `result` the output or its gradient; `bias` is read if
    // prepare(c).finishes.
    void run(cudnn::convolution const& c, void* image, void* weight, void* result,
             void* bias = nullptr);

    // Allocated bytes.
    std::size_t bytes() const;

private:
    struct parts;
    static void destroy(parts* all);
    owned<parts*, destroy> all_;
};

} // namespace castnet::cuda

#ifndef __CUDA_ARCH__ // the host's work, which nvcc would read once more for the GPU
#include <castnet/device/cuda/library_calls.hpp>
#endif
