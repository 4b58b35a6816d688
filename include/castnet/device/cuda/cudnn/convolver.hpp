// Convolutions by cuDNN on the device that is current. Each different convolution is planned once
// and keeps its plan, so that it gives the same bits on every call and may be captured.
#pragma once

#include <castnet/device/cuda/cudnn/plans.hpp>

#include <algorithm>

namespace castnet::cuda::cudnn {

struct planned_convolution {
    convolution what;
    execution_plan plan;
    bool finishes = false; // bias and activation are done, too
};

class convolver {
public:
    // A plan may use so many bytes of memory for itself.
    convolver(cudaStream_t stream, std::int64_t workspace)
        : device_{stream}, workspace_{workspace} {}

    // Without bias and activation if cuDNN has no plan with them that suits; throws castnet::error
    // if it has no plan at all.
    planned_convolution const& plan(convolution const& c) {
        auto const found = std::find_if(planned_.begin(), planned_.end(),
                                        [&](auto const& known) { return known->what == c; });
        return found != planned_.end()
                   ? **found
                   : *planned_.emplace_back(std::make_unique<planned_convolution>(choose(c)));
    }

    // For conv and conv_data `weight` is read, for conv_weight written; `image` is the input or its
    // gradient, `result` the output or its gradient; `bias` is read if the plan finishes. On the
    // stream.
    void run(planned_convolution const& c, void* image, void* weight, void* result, void* bias,
             void* workspace) const {
        std::vector<std::int64_t> ids{image_id, weight_id, result_id};
        std::vector<void*> pointers{image, weight, result};
        if (c.finishes) {
            ids.push_back(bias_id);
            pointers.push_back(bias);
        }
        descriptor arrays{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
        arrays.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
        arrays.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                   static_cast<std::int64_t>(pointers.size()), pointers.data());
        arrays.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
        arrays.finalize();
        CASTNET_CUDA(cudnnBackendExecute(device_.handle(), c.plan.plan.get(), arrays.get()));
    }

private:
    planned_convolution choose(convolution const& c) const {
        auto found = plans_of(c);
        bool const finishes = c.bias && !found.empty();
        if (c.bias && !finishes) {
            convolution alone = c;
            alone.bias = alone.relu = false;
            found = plans_of(alone);
        }
        if (found.empty()) {
            throw error("castnet: cuDNN has no plan for " + text_of(c) + " within " +
                        std::to_string(workspace_) + " bytes of workspace; allow it more");
        }
        return {c, std::move(found.front()), finishes};
    }
    std::vector<execution_plan> plans_of(convolution const& c) const {
        return cudnn::plans_of(graph_of(c, device_), device_, {c.tensor_cores, workspace_});
    }

    target device_;
    std::int64_t workspace_;
    std::vector<std::unique_ptr<planned_convolution>> planned_; // references to them stay valid
};

} // namespace castnet::cuda::cudnn
