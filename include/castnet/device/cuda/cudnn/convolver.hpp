// Convolutions by cuDNN on the device that is current. Each different convolution is prepared once
// and keeps its algorithm, so that it gives the same bits on every call and may be captured.
#pragma once

#include <castnet/core/text.hpp>
#include <castnet/device/cuda/choose_algorithm.hpp>
#include <castnet/device/cuda/cudnn/algorithms.hpp>
#include <castnet/device/cuda/fastest.hpp>
#include <castnet/device/cuda/noise.hpp>
#include <castnet/device/weight_elements.hpp>

#include <algorithm>
#include <memory>

namespace castnet::cuda::cudnn {

struct prepared_convolution {
    convolution what;
    algorithm how;
    bool finishes = false; // with bias and activation
};

class convolver {
public:
    convolver(stream const& s, algorithm_order order)
        : stream_{s}, device_{s.get()}, order_{order} {}

    // The convolution with an algorithm, chosen by the first call; without bias and activation if
    // cuDNN has no suitable algorithm with them. Throws castnet::error if it has none at all.
    prepared_convolution const& prepare(convolution const& c) {
        auto const found = std::find_if(prepared_.begin(), prepared_.end(),
                                        [&](auto const& known) { return known->what == c; });
        return found != prepared_.end()
                   ? **found
                   : *prepared_.emplace_back(std::make_unique<prepared_convolution>(choose(c)));
    }

    // Enqueues the convolution. For conv and conv_data `weight` is read, for conv_weight written;
    // `image` is the input or its gradient, `result` the output or its gradient; `bias` is read if
    // c.finishes.
    void run(prepared_convolution const& c, void* image, void* weight, void* result, void* bias,
             void* workspace) const {
        run(c.how, image, weight, result, c.finishes ? bias : nullptr, workspace);
    }

private:
    // `bias` may be nullptr.
    void run(algorithm const& a, void* image, void* weight, void* result, void* bias,
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
        CASTNET_CUDA(cudnnBackendExecute(device_.handle(), a.execution_plan.get(), arrays.get()));
    }

    prepared_convolution choose(convolution const& c) const {
        auto chosen = algorithm_for(c);
        bool const finishes = c.bias && chosen;
        if (c.bias && !finishes) {
            convolution alone = c;
            alone.bias = alone.relu = false;
            chosen = algorithm_for(alone);
        }
        if (!chosen) {
            throw error({"castnet: cuDNN has no algorithm for ", text_of(c), " within ",
                         workspace_limit(c), " bytes of workspace"});
        }
        return {c, std::move(*chosen), finishes};
    }

    // Empty if cuDNN has none.
    std::optional<algorithm> algorithm_for(convolution const& c) const {
        return choose_algorithm(
            order_, string_of({text_of(c), ", cuDNN ", cudnnGetVersion()}),
            [&](std::size_t count, std::optional<int> number) {
                return algorithms_of(graph_of(c, device_), device_,
                                     {c.tensor_cores, workspace_limit(c), count, number});
            },
            [&](std::vector<algorithm> const& algorithms) { return fastest_of(algorithms, c); });
    }

    // Empty if there is no memory for timing.
    std::optional<std::size_t> fastest_of(std::vector<algorithm> const& algorithms,
                                          convolution const& c) const {
        window const& w = c.geometry;
        auto const array = [&](std::int64_t count) {
            return noise(count, bytes_of(c.type), stream_);
        };
        std::int64_t most = 0;
        for (algorithm const& a : algorithms) {
            most = std::max(most, a.workspace);
        }
        try {
            memory const image = array(c.samples * w.height * w.width * w.channels),
                         weight = array(weight_elements(w)),
                         result = array(c.samples * w.out_height * w.out_width * w.filters),
                         bias = array(c.bias ? w.filters : 0),
                         workspace{static_cast<std::size_t>(most)};
            return fastest(stream_, algorithms.size(), [&](std::size_t i) {
                run(algorithms[i], image.as<char>(), weight.as<char>(), result.as<char>(),
                    bias.as<char>(), workspace.as<char>());
            });
        } catch (out_of_memory const&) {
            return std::nullopt;
        }
    }

    stream const& stream_;
    target device_;
    algorithm_order order_;
    std::vector<std::unique_ptr<prepared_convolution>> prepared_; // references to them stay valid
};

} // namespace castnet::cuda::cudnn
