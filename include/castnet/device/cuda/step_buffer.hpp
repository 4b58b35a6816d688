// Buffer of a step's inputs: the batch, the step's number, the optimizer's rule. The host writes it
// in page-locked memory, which is copied to the GPU during the previous step, or is an argument of
// the step's kernel.
#pragma once

#include <castnet/device/cuda/arguments.hpp>
#include <castnet/device/cuda/gather.hpp>
#include <castnet/device/cuda/memory.hpp>
#include <castnet/device/cuda/optimize.hpp>
#include <castnet/device/cuda/repeated_work.hpp>
#include <castnet/device/cuda/session.hpp>
#include <castnet/device/cuda/step_memory.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/device/cuda/stream.hpp>
#include <castnet/device/executor_sizes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace castnet::cuda {

template <class Context>
class step_buffer {
    using T = typename Context::value_type;
    // Offsets of: step_values (at 0), update_values, the arrays of a data set, the samples'
    // indices, and region::batch.
    static constexpr std::size_t rule_at = alignment_bytes, arrays_at = rule_at + update_bytes,
                                 numbers_at = arrays_at + alignment_bytes;
    static_assert(max_stored_arrays * sizeof(stored_array<T>) <= alignment_bytes);
    static constexpr std::size_t batch_at(executor_sizes const& z) {
        return numbers_at + rounded_to_alignment(std::size_t(z.samples) * sizeof(std::uint32_t));
    }

public:
    // Size on the host and on the GPU.
    static constexpr std::size_t bytes(executor_sizes const& z) {
        return batch_at(z) + rounded_to_alignment(std::size_t(z.batch) * sizeof(T));
    }

    // With bytes(z) bytes at `device`; `rest` is the context without the batch's addresses.
    step_buffer(executor_sizes const& z, char* device, Context const& rest)
        : context{rest}, batch_at_{batch_at(z)}, host_{bytes(z)}, device_{device} {
        context.region[int(region::batch)] = reinterpret_cast<T*>(device + batch_at_);
        context.now = reinterpret_cast<step_values const*>(device);
    }

    Context context; // of the steps that read this buffer
    event copied;    // to the GPU
    event done;      // the last such step
    repeated_work known;

    // Host memory for region::batch; may be written after `copied`.
    T* batch() {
        gathers_ = false;
        *in_host<stored_array<T>>(arrays_at) = {};
        return in_host<T>(batch_at_);
    }
    // After batch(): inputs and targets are gathered from these arrays, weights come from the host.
    // Returns host memory for the samples' indices.
    std::uint32_t* gather_from(std::span<stored_array<T> const> arrays) {
        gathers_ = true;
        std::copy(arrays.begin(), arrays.end(), in_host<stored_array<T>>(arrays_at));
        return in_host<std::uint32_t>(numbers_at);
    }
    bool gathers() const { return gathers_; }

    // The arguments of the optimizer's update, and their address on the GPU.
    template <class Rule>
    void set(update_values<Rule, T> const& values) {
        store(values, in_host<char>(rule_at));
    }
    template <class Rule>
    update_values<Rule, T>* values() const {
        return reinterpret_cast<update_values<Rule, T>*>(device_ + rule_at);
    }

    // Copies the buffer to the GPU; `compute` waits for the copy.
    template <auto const& Plan>
    void send(step_values const& now, stream const& copies, stream const& compute) {
        if (std::exchange(is_argument_, false)) {
            compute.record(done);
        }
        write<Plan>(now);
        copies.wait_for(done);
        CASTNET_CUDA(cudaMemcpyAsync(device_, host_.template as<char>(), bytes_from_host<Plan>(),
                                     cudaMemcpyHostToDevice, copies.get()));
        copies.record(copied);
        compute.wait_for(copied);
        is_copied_ = true;
    }

    // Bytes of the buffer that a plan's step reads, at most.
    template <auto const& Plan>
    static constexpr std::size_t most_bytes() {
        return numbers_at + rounded_to_alignment(std::size_t(Plan.batch) * sizeof(std::uint32_t)) +
               std::size_t(Plan.staging) * sizeof(T);
    }
    // The kernel that writes the buffer to the GPU's memory, as its arguments, and then gathers the
    // samples. The buffer may be changed when it is launched.
    template <auto const& Plan>
    auto arriving_call(step_values const& now) {
        write<Plan>(now);
        is_argument_ = true;
        auto const gather = gather_call<Plan>();
        using next = std::remove_cvref_t<decltype(gather.body)>;
        using body = arriving_body<most_bytes<Plan>() / sizeof(std::uint32_t), next>;
        return kernel_call<body>{
            gather.where,
            {gather.body, device_, host_.template as<char>(), bytes_from_host<Plan>()}};
    }

    // Waits until the host may write the buffer.
    void wait_until_free(session const& where) {
        if (std::exchange(is_copied_, false)) {
            where.wait(copied); // usually complete before the last step
        }
    }

    // The kernel that gathers the samples.
    template <auto const& Plan>
    auto gather_call() const {
        return cuda::gather_call<Plan>(
            context, reinterpret_cast<stored_array<T> const*>(device_ + arrays_at),
            reinterpret_cast<std::uint32_t const*>(device_ + numbers_at));
    }

private:
    template <auto const& Plan>
    void write(step_values const& now) {
        context.samples = Plan.batch;
        *in_host<step_values>(0) = now;
    }
    template <auto const& Plan>
    std::size_t bytes_from_host() const {
        return batch_at_ + std::size_t(elements_from_host<Plan>()) * sizeof(T);
    }

    template <class U>
    U* in_host(std::size_t offset) const {
        return reinterpret_cast<U*>(host_.template as<char>() + offset);
    }

    // Elements of the batch that the host has written: not the samples, if they are gathered.
    template <auto const& Plan>
    std::ptrdiff_t elements_from_host() const {
        std::ptrdiff_t end = Plan.staging;
        for (int i = 0; gathers_ && i < Plan.sizes.inputs; ++i) {
            end = std::min(end, Plan.inputs[i].offset);
        }
        for (int i = 0; gathers_ && i < Plan.sizes.targets; ++i) {
            end = std::min(end, Plan.targets[i].offset);
        }
        return end;
    }

    std::size_t batch_at_;
    pinned_memory host_;
    char* device_;
    bool gathers_ = false;
    bool is_copied_ = false;   // on the copy stream, since the host last wrote it
    bool is_argument_ = false; // of a step since the last copy, which `done` does not tell of
};

} // namespace castnet::cuda
