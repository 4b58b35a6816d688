// Convolutions by cuDNN on the device that is current. Each different convolution is planned once
// and keeps its plan, so that it gives the same bits on every call and may be captured.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/device/cuda/choose_plan.hpp>
#include <castnet/device/cuda/cudnn/plans.hpp>
#include <castnet/device/cuda/fastest.hpp>
#include <castnet/device/cuda/noise.hpp>
#include <castnet/device/cuda/widen.hpp> // weight_elements

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
    convolver(stream const& s, std::int64_t workspace, plan_order order)
        : stream_{s}, device_{s.get()}, workspace_{workspace}, order_{order} {}

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
        run(c.plan, image, weight, result, c.finishes ? bias : nullptr, workspace);
    }

private:
    // Without a bias where that is nullptr.
    void run(execution_plan const& p, void* image, void* weight, void* result, void* bias,
             void* workspace) const {
        std::vector<std::int64_t> ids{image_id, weight_id, result_id};
        std::vector<void*> pointers{image, weight, result};
        if (bias != nullptr) {
            ids.push_back(bias_id);
            pointers.push_back(bias);
        }
        descriptor arrays{CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR};
        arrays.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
        arrays.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
                   static_cast<std::int64_t>(pointers.size()), pointers.data());
        arrays.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
        arrays.finalize();
        CASTNET_CUDA(cudnnBackendExecute(device_.handle(), p.plan.get(), arrays.get()));
    }

    planned_convolution choose(convolution const& c) const {
        auto chosen = plan_for(c);
        bool const finishes = c.bias && chosen;
        if (c.bias && !finishes) {
            convolution alone = c;
            alone.bias = alone.relu = false;
            chosen = plan_for(alone);
        }
        if (!chosen) {
            throw error({"castnet: cuDNN has no plan for ", text_of(c), " within ", workspace_,
                         " bytes of workspace; allow it more"});
        }
        return {c, std::move(*chosen), finishes};
    }

    // Empty where cuDNN has none.
    std::optional<execution_plan> plan_for(convolution const& c) const {
        return choose_plan(
            order_, string_of({text_of(c), ", cuDNN ", cudnnGetVersion()}),
            [&](std::size_t count, std::optional<int> number) {
                return plans_of(graph_of(c, device_), device_,
                                {c.tensor_cores, workspace_, count, number});
            },
            [&](std::vector<execution_plan> const& plans) { return fastest_of(plans, c); });
    }

    // Nothing where there is no memory to try them.
    std::optional<std::size_t> fastest_of(std::vector<execution_plan> const& plans,
                                          convolution const& c) const {
        window const& w = c.geometry;
        auto const array = [&](std::int64_t count) {
            return noise(count, bytes_of(c.type), stream_);
        };
        std::int64_t most = 0;
        for (execution_plan const& p : plans) {
            most = std::max(most, p.workspace);
        }
        try {
            memory const image = array(c.samples * w.height * w.width * w.channels),
                         weight = array(weight_elements(w)),
                         result = array(c.samples * w.out_height * w.out_width * w.filters),
                         bias = array(c.bias ? w.filters : 0),
                         workspace{static_cast<std::size_t>(most)};
            return fastest(stream_, plans.size(), [&](std::size_t i) {
                run(plans[i], image.as<char>(), weight.as<char>(), result.as<char>(),
                    bias.as<char>(), workspace.as<char>());
            });
        } catch (error const&) {
            return std::nullopt;
        }
    }

    stream const& stream_;
    target device_;
    std::int64_t workspace_;
    plan_order order_;
    std::vector<std::unique_ptr<planned_convolution>> planned_; // references to them stay valid
};

} // namespace castnet::cuda::cudnn
