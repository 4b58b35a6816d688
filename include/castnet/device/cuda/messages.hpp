// Numbers of the GPU's memory as messages in the host's. Messages are numbered, and each holds what
// it does until the next of its number.
#pragma once

#include <castnet/device/cuda/memory.hpp>
#include <castnet/device/cuda/session.hpp>
#include <castnet/plan/communication.hpp>

#include <span>
#include <vector>

namespace castnet::cuda {

template <class Context>
class messages {
    using T = typename Context::value_type;

public:
    explicit messages(session const& where) : session_{where} {}

    // The numbers of these ranges, one range after the other. Waits for what is on the stream.
    std::span<T> read(std::size_t number, std::span<element_range const> ranges, Context const& c) {
        std::size_t count = 0;
        for (element_range const& r : ranges) {
            count += std::size_t(r.count);
        }
        session_.use();
        if (all_.size() <= number) {
            all_.resize(number + 1);
        }
        if (all_[number].bytes() < count * sizeof(T)) {
            session_.wait(session_.compute()); // which may still read the one before
            all_[number] = pinned_memory(count * sizeof(T));
        }
        T* const message = all_[number].template as<T>();
        copy(ranges, c, message, cudaMemcpyDeviceToHost);
        session_.wait(session_.compute());
        return {message, count};
    }
    // The ranges become what the message holds.
    void write(std::size_t number, std::span<element_range const> ranges, Context const& c) const {
        copy(ranges, c, all_[number].template as<T>(), cudaMemcpyHostToDevice);
    }

private:
    void copy(std::span<element_range const> ranges, Context const& c, T* message,
              cudaMemcpyKind way) const {
        session_.use();
        for (element_range const& r : ranges) {
            T* const here = c.region[int(r.where)] + r.offset;
            bool const out = way == cudaMemcpyDeviceToHost;
            if (r.count > 0) {
                CASTNET_CUDA(cudaMemcpyAsync(out ? message : here, out ? here : message,
                                             std::size_t(r.count) * sizeof(T), way,
                                             session_.compute().get()));
            }
            message += r.count;
        }
    }

    session const& session_;
    std::vector<pinned_memory> all_;
};

} // namespace castnet::cuda
