// Convolutions by cuDNN on the device that is current. Each different convolution is planned once
// and keeps its plan, so that it gives the same bits on every call and may be captured.
#pragma once

#include <castnet/device/cuda/cudnn/plans.hpp>

#include <algorithm>

namespace castnet::cuda::cudnn {

struct planned_convolution {
    convolution what;
    execution_plan plan;
};

class convolver {
public:
    // A plan may use so many bytes of memory for itself.
    convolver(cudaStream_t stream, std::int64_t workspace)
        : device_{stream}, workspace_{workspace} {}

    // Throws castnet::error if cuDNN has no plan that suits.
    planned_convolution const& plan(convolution const& c) {
        auto const found = std::find_if(planned_.begin(), planned_.end(),
                                        [&](auto const& known) { return known->what == c; });
        return found != planned_.end()
                   ? **found
                   : *planned_.emplace_back(std::make_unique<planned_convolution>(choose(c)));
    }

    // For conv and conv_data `weight` is read, for conv_weight written; `image` is the input or its
    // gradient, `result` the output or its gradient. On the stream.
    void run(planned_convolution const& c, void* image, void* weight, void* result,
             void* workspace) const {
        descriptor arrays{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
        arrays.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                   std::vector<std::int64_t>{image_id, weight_id, result_id});
        void* const pointers[] = {image, weight, result};
        arrays.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, 3, pointers);
        arrays.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
        arrays.finalize();
        CASTNET_CUDA(cudnnBackendExecute(device_.handle(), c.plan.plan.get(), arrays.get()));
    }

private:
    planned_convolution choose(convolution const& c) const {
        auto found = plans_of(graph_of(c, device_), device_, {c.tensor_cores, workspace_});
        if (found.empty()) {
            throw error("castnet: cuDNN has no plan for " + text_of(c) + " within " +
                        std::to_string(workspace_) + " bytes of workspace; allow it more");
        }
        return {c, std::move(found.front())};
    }

    target device_;
    std::int64_t workspace_;
    std::vector<std::unique_ptr<planned_convolution>> planned_; // references to them stay valid
};

} // namespace castnet::cuda::cudnn
