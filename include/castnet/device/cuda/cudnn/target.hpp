// Target that cuDNN plans for: the device of a handle, or a device that is only described. The
// latter needs no GPU and no driver, so that tests can ask what a device would do.
#pragma once

#include <castnet/device/cuda/cudnn/descriptor.hpp>

#include <algorithm>
#include <optional>
#include <string>

namespace castnet::cuda::cudnn {

class target {
public:
    // The device that is current, with a handle whose work goes to `stream`.
    explicit target(cudaStream_t stream) {
        cudnnHandle_t made = nullptr;
        CASTNET_CUDA(cudnnCreate(&made));
        handle_.reset(made);
        CASTNET_CUDA(cudnnSetStream(made, stream));
    }

    // A device as target::description() wrote it (JSON).
    explicit target(std::string const& description) {
        properties_.emplace(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
        properties_->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                         std::vector<char>(description.begin(), description.end()));
        properties_->finalize();
    }

    // nullptr for a device that is only described.
    cudnnHandle_t handle() const { return handle_.get(); }

    // The properties of the handle's device that cuDNN looks at, as JSON.
    std::string description() const {
        descriptor properties{CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR};
        properties.set(CUDNN_ATTR_DEVICEPROP_HANDLE, handle());
        properties.finalize();
        auto const text = properties.numbers<char>(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
        return {text.begin(), std::find(text.begin(), text.end(), '\0')};
    }

    // Tells an operation graph, a heuristic or an execution plan where it is to run.
    void apply_to_graph(descriptor& graph) const {
        if (handle_) {
            graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle());
        }
    }
    void apply_to_heuristic(descriptor& heuristic) const {
        if (properties_) {
            heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *properties_);
        }
    }
    void apply_to_plan(descriptor& plan) const {
        if (handle_) {
            plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle());
        } else {
            plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *properties_);
        }
    }

private:
    struct destroy {
        void operator()(cudnnHandle_t h) const { cudnnDestroy(h); }
    };
    std::unique_ptr<cudnnContext, destroy> handle_;
    std::optional<descriptor> properties_;
};

} // namespace castnet::cuda::cudnn
