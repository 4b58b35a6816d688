// Calls of cuBLASLt and cuDNN.
#pragma once

#include <castnet/device/cuda/cublas/multiplier.hpp>
#include <castnet/device/cuda/cudnn/convolver.hpp>
#include <castnet/device/cuda/libraries.hpp>
#include <castnet/device/cuda/memory.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace castnet::cuda {

struct libraries::parts {
    // As NVIDIA recommends for Hopper; a convolution may want more (cudnn::workspace_limit).
    static constexpr std::size_t product_workspace = std::size_t{32} << 20;

    parts(stream const& s, algorithm_order o) : own{s}, order{o} {}

    cublas::prepared_product const& prepare(cublas::product const& p) {
        if (!products) {
            products.emplace(own, product_workspace, order);
        }
        auto const& prepared = products->prepare(p);
        wanted = std::max(wanted, std::max(prepared.how.workspace, product_workspace));
        return prepared;
    }
    cudnn::prepared_convolution const& prepare(cudnn::convolution const& c) {
        if (!convolutions) {
            convolutions.emplace(own, order);
        }
        auto const& prepared = convolutions->prepare(c);
        wanted = std::max(wanted, static_cast<std::size_t>(prepared.how.workspace));
        return prepared;
    }

    void reserve() {
        if (wanted > (blocks.empty() ? 0 : blocks.back().bytes())) {
            blocks.emplace_back(wanted, "the workspace of cuDNN and cuBLASLt");
        }
    }
    void* workspace() {
        reserve();
        return blocks.empty() ? nullptr : blocks.back().as<char>();
    }

    stream const& own;
    algorithm_order order;
    std::optional<cublas::multiplier> products;
    std::optional<cudnn::convolver> convolutions;
    std::size_t wanted = 0;
    std::vector<memory> blocks;
};

inline void libraries::destroy(parts* all) {
    delete all;
}

inline libraries::libraries(stream const& s, algorithm_order order) : all_{new parts{s, order}} {}

inline chosen_algorithm libraries::prepare(cublas::product const& p) {
    auto const& prepared = all_->prepare(p);
    return {prepared.how.number, prepared.how.workspace, prepared.finishes};
}
inline chosen_algorithm libraries::prepare(cudnn::convolution const& c) {
    auto const& prepared = all_->prepare(c);
    return {prepared.how.number, static_cast<std::size_t>(prepared.how.workspace),
            prepared.finishes};
}

inline std::size_t libraries::workspace_bytes() const {
    return all_->wanted;
}
inline void libraries::reserve() {
    all_->reserve();
}

inline void libraries::run(cublas::product const& p, void const* a, void const* b, void* d,
                           void const* bias, cublas::combination const& sum) {
    auto const& prepared = all_->prepare(p);
    all_->products->run(prepared, a, b, d, bias, all_->workspace(), sum);
}
inline void libraries::run(cudnn::convolution const& c, void* image, void* weight, void* result,
                           void* bias) {
    auto const& prepared = all_->prepare(c);
    all_->convolutions->run(prepared, image, weight, result, bias, all_->workspace());
}

inline std::size_t libraries::bytes() const {
    std::size_t sum = 0;
    for (memory const& block : all_->blocks) {
        sum += block.bytes();
    }
    return sum;
}

} // namespace castnet::cuda
