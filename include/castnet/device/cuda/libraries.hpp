// cuBLASLt and cuDNN for the steps that run on one stream: their handles, the memory that they work
// in, and what was chosen for each step.
//
// What a step needs is chosen and allocated when it runs first, which must be before its stream is
// captured: prepare() does it for all steps of a plan. Nothing is freed or chosen anew later, so
// that captured graphs stay true.
#pragma once

#include <castnet/device/cuda/cublas/multiplier.hpp>
#include <castnet/device/cuda/cudnn/convolver.hpp>
#include <castnet/device/cuda/memory.hpp>

#include <optional>

namespace castnet::cuda {

class libraries {
public:
    explicit libraries(stream const& s, plan_order order = plan_order::as_listed)
        : stream_{s}, order_{order} {}
    libraries(libraries const&) = delete;
    libraries& operator=(libraries const&) = delete;

    cublas::planned_product const& plan(cublas::product const& p) {
        if (!products_) {
            products_.emplace(stream_, product_workspace, order_);
        }
        auto const& planned = products_->plan(p);
        wanted_ = std::max(wanted_, std::max(planned.how.workspace, product_workspace));
        return planned;
    }
    cudnn::planned_convolution const& plan(cudnn::convolution const& c) {
        if (!convolutions_) {
            convolutions_.emplace(stream_, most_workspace, order_);
        }
        auto const& planned = convolutions_->plan(c);
        wanted_ = std::max(wanted_, static_cast<std::size_t>(planned.plan.workspace));
        return planned;
    }

    // Bytes that the choices so far work in, and allocates them. One after the other, all steps use
    // the last block; graphs may know those before it.
    std::size_t workspace_bytes() const { return wanted_; }
    void reserve() {
        if (wanted_ > (blocks_.empty() ? 0 : blocks_.back().bytes())) {
            blocks_.emplace_back(wanted_, "the workspace of cuDNN and cuBLASLt");
        }
    }

    // `bias`: that of those that add one, or where its gradient goes; whether it was used is in
    // their plans.
    void run(cublas::product const& p, void const* a, void const* b, void* d,
             void const* bias = nullptr) {
        auto const& planned = plan(p);
        products_->run(planned, a, b, d, bias, workspace());
    }
    void run(cudnn::convolution const& c, void* image, void* weight, void* result,
             void* bias = nullptr) {
        auto const& planned = plan(c);
        convolutions_->run(planned, image, weight, result, bias, workspace());
    }

    // Bytes that were allocated.
    std::size_t bytes() const {
        std::size_t sum = 0;
        for (memory const& block : blocks_) {
            sum += block.bytes();
        }
        return sum;
    }

private:
    // As NVIDIA recommends for Hopper; a convolution may want more.
    static constexpr std::size_t product_workspace = std::size_t{32} << 20;
    static constexpr std::int64_t most_workspace = std::int64_t{256} << 20;

    void* workspace() {
        reserve();
        return blocks_.empty() ? nullptr : blocks_.back().as<char>();
    }

    stream const& stream_;
    plan_order order_;
    std::optional<cublas::multiplier> products_;
    std::optional<cudnn::convolver> convolutions_;
    std::size_t wanted_ = 0;
    std::vector<memory> blocks_;
};

} // namespace castnet::cuda
