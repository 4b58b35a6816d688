// cuBLASLt and cuDNN on one stream: their handles, their workspace, and the algorithm chosen for
// each launch.
//
// The algorithm and workspace of a launch are chosen and allocated before its stream is captured:
// a device's prepare<Plan>() does so for all launches of a plan. Nothing is freed or chosen anew
// later, so that captured graphs stay valid.
#pragma once

#include <castnet/device/cuda/cublas/multiplier.hpp>
#include <castnet/device/cuda/cudnn/convolver.hpp>
#include <castnet/device/cuda/memory.hpp>

#include <optional>

namespace castnet::cuda {

class libraries {
public:
    explicit libraries(stream const& s, algorithm_order order = algorithm_order::as_listed)
        : stream_{s}, order_{order} {}
    libraries(libraries const&) = delete;
    libraries& operator=(libraries const&) = delete;

    cublas::prepared_product const& prepare(cublas::product const& p) {
        if (!products_) {
            products_.emplace(stream_, product_workspace, order_);
        }
        auto const& prepared = products_->prepare(p);
        wanted_ = std::max(wanted_, std::max(prepared.how.workspace, product_workspace));
        return prepared;
    }
    cudnn::prepared_convolution const& prepare(cudnn::convolution const& c) {
        if (!convolutions_) {
            convolutions_.emplace(stream_, order_);
        }
        auto const& prepared = convolutions_->prepare(c);
        wanted_ = std::max(wanted_, static_cast<std::size_t>(prepared.how.workspace));
        return prepared;
    }

    // Bytes of the workspace that the algorithms chosen so far need; reserve() allocates them. All
    // launches use the last block, one after the other; graphs may refer to older ones.
    std::size_t workspace_bytes() const { return wanted_; }
    void reserve() {
        if (wanted_ > (blocks_.empty() ? 0 : blocks_.back().bytes())) {
            blocks_.emplace_back(wanted_, "the workspace of cuDNN and cuBLASLt");
        }
    }

    // `bias`: read by a product that adds one, or its gradient's destination; prepare(p).finishes
    // tells whether it was used.
    void run(cublas::product const& p, void const* a, void const* b, void* d,
             void const* bias = nullptr) {
        auto const& prepared = prepare(p);
        products_->run(prepared, a, b, d, bias, workspace());
    }
    void run(cublas::product const& p, void const* a, void const* b, void* d,
             cublas::combination const& sum) {
        auto const& prepared = prepare(p);
        products_->run(prepared, a, b, d, nullptr, workspace(), sum);
    }
    void run(cudnn::convolution const& c, void* image, void* weight, void* result,
             void* bias = nullptr) {
        auto const& prepared = prepare(c);
        convolutions_->run(prepared, image, weight, result, bias, workspace());
    }

    // Allocated bytes.
    std::size_t bytes() const {
        std::size_t sum = 0;
        for (memory const& block : blocks_) {
            sum += block.bytes();
        }
        return sum;
    }

private:
    // As NVIDIA recommends for Hopper; a convolution may want more (cudnn::workspace_limit).
    static constexpr std::size_t product_workspace = std::size_t{32} << 20;

    void* workspace() {
        reserve();
        return blocks_.empty() ? nullptr : blocks_.back().as<char>();
    }

    stream const& stream_;
    algorithm_order order_;
    std::optional<cublas::multiplier> products_;
    std::optional<cudnn::convolver> convolutions_;
    std::size_t wanted_ = 0;
    std::vector<memory> blocks_;
};

} // namespace castnet::cuda
