// Target of cuDNN's heuristics and execution plans: the device of a handle, or one that is only
// described, which needs no GPU and no driver, for tests.
#pragma once

#include <castnet/device/cuda/cudnn/descriptor.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace castnet::cuda::cudnn {

class target {
public:
    // The current device, with a handle that enqueues on `stream`.
    explicit target(cudaStream_t stream) {
        cudnnHandle_t made = nullptr;
        CASTNET_CUDA(cudnnCreate(&made));
        handle_ = owned_handle{made};
        CASTNET_CUDA(cudnnSetStream(made, stream));
    }

    // A device described by target::description() (JSON).
    explicit target(std::string const& description) {
        properties_.emplace(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
        properties_->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                         std::vector<char>(description.begin(), description.end()));
        properties_->finalize();
    }

    // nullptr for a described device.
    cudnnHandle_t handle() const { return handle_.get(); }

    // The properties of the handle's device for cuDNN's heuristics, as JSON.
    std::string description() const {
        descriptor properties{CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR};
        properties.set(CUDNN_ATTR_DEVICEPROP_HANDLE, handle());
        properties.finalize();
        auto const text = properties.numbers<char>(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
        return {text.begin(), std::find(text.begin(), text.end(), '\0')};
    }

    // Sets the device of an operation graph, a heuristic or an execution plan.
    void apply_to_graph(descriptor& graph) const {
        if (handle() != nullptr) {
            graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle());
        }
    }
    void apply_to_heuristic(descriptor& heuristic) const {
        if (properties_) {
            heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *properties_);
        }
    }
    void apply_to_execution_plan(descriptor& plan) const {
        if (handle() != nullptr) {
            plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle());
        } else {
            plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *properties_);
        }
    }

private:
    using owned_handle = owned<cudnnHandle_t, cudnnDestroy>;
    owned_handle handle_;
    std::optional<descriptor> properties_;
};

} // namespace castnet::cuda::cudnn
