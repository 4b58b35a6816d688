// Buffer of a step's inputs for several GPUs: the host writes one in page-locked memory, of which
// each GPU gets what its part of the network reads, during the previous step.
#pragma once

#include <castnet/device/cuda/joint_streams.hpp>
#include <castnet/device/cuda/memory.hpp>
#include <castnet/device/cuda/optimize.hpp>
#include <castnet/device/cuda/repeated_work.hpp>
#include <castnet/device/cuda/step_memory.hpp>
#include <castnet/device/cuda/step_values.hpp>
#include <castnet/plan/own_memory.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace castnet::cuda {

template <class Context>
class joint_buffer {
    using T = typename Context::value_type;
    // Offsets of step_values (at 0), update_values, and region::batch.
    static constexpr std::size_t rule_at = alignment_bytes, batch_at = rule_at + update_bytes;

public:
    // Size on the host and on each GPU.
    static constexpr std::size_t bytes(executor_sizes const& z) {
        return batch_at + rounded_to_alignment(std::size_t(z.batch) * sizeof(T));
    }

    // With bytes(z) bytes on each GPU, after these addresses; `rest`: the contexts without them.
    joint_buffer(executor_sizes const& z, std::vector<char*> const& on_gpus,
                 std::vector<Context> rest, sessions const& gpus)
        : contexts{std::move(rest)}, gpus_{gpus}, host_{bytes(z)}, on_gpus_{on_gpus} {
        for (int d = 0; d < gpus.count(); ++d) {
            char* const here = on_gpus_[std::size_t(d)];
            contexts[std::size_t(d)].region[int(region::batch)] =
                reinterpret_cast<T*>(here + batch_at);
            contexts[std::size_t(d)].now = reinterpret_cast<step_values const*>(here);
            gpus.on(d, [&](session const&) { copied_.emplace_back(); });
        }
        gpus[0].use();
        done_.emplace_back();
    }

    std::vector<Context> contexts; // of the steps that read this buffer
    repeated_work known;

    // Host memory for region::batch; may be written when this returns.
    T* batch() {
        if (std::exchange(is_copied_, false)) {
            for (int d = 0; d < gpus_.count(); ++d) {
                gpus_[d].wait(copied_[std::size_t(d)]); // usually complete before the last step
            }
        }
        return in_host<T>(batch_at);
    }

    // The arguments of the optimizer's update, and their address on a GPU.
    template <class Rule>
    void set(update_values<Rule, T> const& values) {
        store(values, in_host<char>(rule_at));
    }
    template <class Rule>
    update_values<Rule, T>* values(int device) const {
        return reinterpret_cast<update_values<Rule, T>*>(on_gpus_[std::size_t(device)] + rule_at);
    }

    // Copies to each GPU what it reads; the first one's stream waits for all of that.
    template <auto const& Plan>
    void send(step_values const& now) {
        *in_host<step_values>(0) = now;
        for (int d = 0; d < gpus_.count(); ++d) {
            contexts[std::size_t(d)].samples = Plan.batch;
            gpus_.on(d, [&](session const& here) {
                here.copies().wait_for(done_[0]);
                copy(here, d, 0, batch_at + std::size_t(begin_of_samples(Plan)) * sizeof(T));
                element_range const samples = samples_read_by(d, Plan);
                copy(here, d, batch_at + std::size_t(samples.offset) * sizeof(T),
                     std::size_t(samples.count) * sizeof(T));
                here.copies().record(copied_[std::size_t(d)]);
            });
            gpus_[0].compute().wait_for(copied_[std::size_t(d)]);
        }
        is_copied_ = true;
    }
    // Behind the last work that reads the buffer, which the first GPU's stream has waited for.
    void end() const { gpus_[0].compute().record(done_[0]); }

private:
    void copy(session const& here, int device, std::size_t at, std::size_t bytes) const {
        if (bytes > 0) {
            CASTNET_CUDA(cudaMemcpyAsync(on_gpus_[std::size_t(device)] + at, in_host<char>(at),
                                         bytes, cudaMemcpyHostToDevice, here.copies().get()));
        }
    }
    template <class U>
    U* in_host(std::size_t offset) const {
        return reinterpret_cast<U*>(host_.template as<char>() + offset);
    }

    sessions const& gpus_;
    pinned_memory host_;
    std::vector<char*> on_gpus_;
    std::vector<event> copied_, done_; // to each GPU; on the first one
    bool is_copied_ = false;           // since the host last wrote it
};

} // namespace castnet::cuda
