// A device that runs castnet's own CUDA kernels on the host (simt.hpp), and products and
// convolutions, which are cuBLASLt's and cuDNN's on a GPU, as the CPU does.
#pragma once

#include <castnet/device/cpu/device.hpp>
#include <castnet/device/cuda/kernels.hpp>
#include <castnet/device/cuda/optimize.hpp>

#include "simt.hpp"

namespace simt {

template <class T>
struct context {
    using value_type = T;

    T* region[4]{};
    std::ptrdiff_t samples = 0;
    castnet::philox_key key{};
    std::uint32_t step = 0;
    std::uint32_t first_sample = 0;
    castnet::cuda::step_values const* now = nullptr;

    T* at(castnet::array_ref const& r) const {
        return region[static_cast<int>(r.where)] + r.offset;
    }

    template <class Body>
    void launch(castnet::cuda::grid const& g, Body const& body) const {
        simt::launch(g, body);
    }
};

template <class T>
struct device {
    using value_type = T;
    using context = simt::context<T>;
    using memory = castnet::cpu::memory;
    using session = castnet::cpu::session;
    using executor = castnet::cpu::executor<device>;
    using kernel = castnet::cuda::kernel<context>;
    static constexpr bool whole_batches = true;
    static constexpr std::ptrdiff_t alignment =
        static_cast<std::ptrdiff_t>(castnet::cuda::alignment_bytes / sizeof(T));

    static constexpr std::ptrdiff_t place_in_sample(std::ptrdiff_t i, castnet::extents size,
                                                    bool image) {
        return castnet::cpu::place_in_sample(i, size, image);
    }
    static constexpr std::ptrdiff_t place_in_parameter(std::ptrdiff_t i,
                                                       castnet::parameter const& p) {
        return castnet::cpu::place_in_parameter(i, p);
    }
    static constexpr std::ptrdiff_t scratch(castnet::step const& s, castnet::window const* windows,
                                            castnet::extents const* operands,
                                            castnet::instruction const& end) {
        return s.kind == castnet::op::reduce
                   ? castnet::cuda::reduce_scratch(s, end)
                   : castnet::cpu_device<T>::scratch(s, windows, operands, end);
    }

    template <auto const& Plan, class After = castnet::ignore_steps>
    static void run(context c, After const& after = {}) {
        castnet::cuda::step_values const values{c.step};
        c.now = &values;
        c.samples = Plan.batch;
        castnet::run_steps<device, Plan>(c, after);
    }

    template <int Slots, class Rule>
    static void optimize(Rule const& rule, castnet::penalty const& cost, T scale, T* parameters,
                         T const* gradients, T* slots, std::ptrdiff_t stride, std::ptrdiff_t first,
                         std::ptrdiff_t last) {
        castnet::cuda::update_values<Rule, T> const values{rule, scale};
        castnet::cuda::penalized_range const range{last - first, cost};
        std::ptrdiff_t const groups = (last - first) / castnet::cuda::lanes_of<T>;
        simt::launch(castnet::cuda::grid_for(groups),
                     castnet::cuda::optimize_body<Rule, Slots, T>{
                         &values, &range, parameters + first, gradients + first, slots + first,
                         stride, groups});
    }

    template <class Program>
    static constexpr kernel fused_kernel() {
        return castnet::cuda::fused_kernel<Program, context>();
    }
    static kernel kernel_of(castnet::op kind) {
        switch (kind) {
        case castnet::op::matmul:
            return &on_cpu<&castnet::cpu::matmul<T>>;
        case castnet::op::matmul_data:
            return &on_cpu<&castnet::cpu::matmul_data<T>>;
        case castnet::op::matmul_weight:
            return &on_cpu<&castnet::cpu::matmul_weight<T>>;
        case castnet::op::conv:
            return &on_cpu<&castnet::cpu::conv<T>>;
        case castnet::op::conv_data:
            return &on_cpu<&castnet::cpu::conv_data<T>>;
        case castnet::op::conv_weight:
            return &on_cpu<&castnet::cpu::conv_weight<T>>;
        default:
            return castnet::cuda::own_kernel<context>(kind);
        }
    }

private:
    template <auto Kernel>
    static void on_cpu(castnet::step const& s, castnet::step_tables const& t, context const& c) {
        castnet::cpu::context<T> host;
        for (int i = 0; i < 4; ++i) {
            host.region[i] = c.region[i];
        }
        host.samples = c.samples;
        Kernel(s, t, host);
    }
};

// The CUDA device's kernels as a policy.
struct policy {
    using value_type = double;
    using device = simt::device<double>;
    static constexpr char const* name = "cuda on the host";
    static constexpr std::size_t budget = std::size_t(-1);
};

} // namespace simt
