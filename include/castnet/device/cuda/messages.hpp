// Messages of a GPU's values in host memory. Messages are numbered, and each stays valid until the
// next one of its number.
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

    // Copies these ranges to a message, one after the other. Waits for the stream.
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
            session_.wait(session_.compute()); // which may still read the previous message
            all_[number] = pinned_memory(count * sizeof(T));
        }
        T* const message = all_[number].template as<T>();
        copy(ranges, c, message, cudaMemcpyDeviceToHost);
        session_.wait(session_.compute());
        return {message, count};
    }
    // Copies the message back to the ranges.
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
