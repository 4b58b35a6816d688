// Block of a GPU's memory for steps: gradients, the optimizer's state, workspace, totals, and the
// buffers of a step's inputs.
#pragma once

#include <castnet/device/cuda/reduce.hpp>
#include <castnet/device/cuda/session.hpp>
#include <castnet/device/executor_sizes.hpp>

#include <cstddef>
#include <utility>

namespace castnet::cuda {

constexpr std::size_t rounded_to_alignment(std::size_t bytes) {
    return (bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
}

template <class Context>
class step_memory {
    using T = typename Context::value_type;

    static constexpr std::size_t totals_bytes(executor_sizes const& z) {
        return rounded_to_alignment(std::size_t(z.totals) * sizeof(double));
    }
    static constexpr std::size_t gradients_bytes(executor_sizes const& z) {
        return rounded_to_alignment(std::size_t(z.gradients + z.state) * sizeof(T));
    }
    static constexpr std::size_t parts_bytes() {
        return rounded_to_alignment(std::size_t(max_parts) * sizeof(T));
    }
    static constexpr std::size_t tickets_bytes() {
        return rounded_to_alignment(max_tickets * sizeof(unsigned));
    }
    static constexpr std::size_t workspace_bytes(executor_sizes const& z) {
        return rounded_to_alignment(std::size_t(z.workspace) * sizeof(T));
    }

public:
    static constexpr int buffers = 2; // used alternately

    // `buffer_bytes`: of one of these.
    static constexpr std::size_t bytes(executor_sizes const& z, std::size_t buffer_bytes) {
        return gradients_bytes(z) + workspace_bytes(z) + totals_bytes(z) + parts_bytes() +
               tickets_bytes() + buffers * buffer_bytes;
    }

    step_memory(session const& where, T* parameters, philox_key key, executor_sizes const& z,
                std::size_t buffer_bytes)
        : arena_{where.allocate(bytes(z, buffer_bytes), "the memory of a step")} {
        char* next = arena_.template as<char>();
        auto const take = [&](std::size_t count) { return std::exchange(next, next + count); };
        Context& c = context_;
        c.region[int(region::parameters)] = parameters;
        c.region[int(region::gradients)] = reinterpret_cast<T*>(take(gradients_bytes(z)));
        c.region[int(region::workspace)] = reinterpret_cast<T*>(take(workspace_bytes(z)));
        totals_ = reinterpret_cast<double*>(take(totals_bytes(z)));
        c.parts.elements = reinterpret_cast<T*>(take(parts_bytes()));
        c.parts.tickets = reinterpret_cast<unsigned*>(take(tickets_bytes()));
        c.key = key;
        c.stream = where.compute().get();
        c.library = &where.library();
        c.precision = where.precision();
        for (char*& buffer : buffer_) {
            buffer = take(buffer_bytes);
        }
    }

    std::size_t bytes() const { return arena_.bytes(); }

    // Without a batch.
    Context const& context() const { return context_; }
    double* totals() const { return totals_; }
    char* buffer(int i) const { return buffer_[i]; }

private:
    memory arena_;
    Context context_;
    double* totals_;
    char* buffer_[buffers];
};

} // namespace castnet::cuda
