// castnet's CUDA device on the simulated machine: its sessions, executors, graphs and kernels; only
// products and convolutions are plain loops, as in tests/cuda.
#pragma once

#include <castnet/device/cuda/devices.hpp>
#include <castnet/device/cuda/executor.hpp>
#include <castnet/policy/cuda.hpp>

#include "../cuda/simulated_device.hpp"
#include "machine.hpp"

namespace on_host {

template <class T>
struct context : castnet::cuda::context<T> {
    template <class Run>
    void put(Run const& run) const {
        if (machine::here().calls.strikes()) {
            throw castnet::error("a kernel was not launched");
        }
        auto& where = *reinterpret_cast<machine::stream*>(this->stream);
        if (where.device != machine::current) {
            throw castnet::error("a kernel is launched on a stream of another GPU");
        }
        for (T const* r : this->region) { // (a GPU has no region::prepared)
            if (r != nullptr && !machine::here().is_memory_of(where.device, r)) {
                throw castnet::error("a kernel is given what is no memory of its GPU");
            }
        }
        machine::work w;
        w.run = run;
        machine::here().put(where, std::move(w));
    }
    template <class Body>
    void launch(castnet::cuda::grid const& g, Body const& body) const {
        put([g, body] { simt::launch(g, body); });
    }
};

// OneBlock: a plan that fits one block is one kernel. Bf16: products read bfloat16.
template <class T, bool OneBlock, bool Bf16 = false>
struct device : castnet::cuda::planning<T, Bf16> {
    using context = on_host::context<T>;
    using memory = castnet::cuda::memory;
    using session = castnet::cuda::session;
    using stored_array = castnet::cuda::stored_array<T>;
    using executor = castnet::cuda::executor<device>;
    using replica_scope = castnet::cuda::replica_scope;
    using kernel = castnet::cuda::kernel<context>;
    using loops = simt::device<T, OneBlock, Bf16>;
    template <int N>
    using several = castnet::cuda_devices<device, N>;
    static constexpr bool whole_batches = true;
    static int count() { return castnet::cuda::device_count(); }

    static constexpr std::ptrdiff_t place_in_parameter(std::ptrdiff_t i,
                                                       castnet::parameter const& p) {
        return loops::place_in_parameter(i, p);
    }
    static constexpr bool takes_epilogue(castnet::op product, castnet::ir::epilogue const& e) {
        return loops::takes_epilogue(product, e);
    }
    static bool finishes(castnet::ir::kernel_launch const& s, castnet::ir::launch_tables const& t,
                         context const&) {
        return loops::finishes(s, t, {});
    }
    template <auto const& Plan>
    static constexpr bool in_one_block = OneBlock && castnet::cuda::fits_one_block<T>(Plan);
    template <auto const& Plan, int Stage>
    static constexpr bool in_one_kernel =
        OneBlock && castnet::cuda::is_loop_kernel<T>(Plan, Plan.stages[Stage]);
    template <auto const& Plan>
    static void prepare(context const&, int = 0) {}
    template <auto const& Plan, class After = castnet::ir::ignore_launches>
    static void run(context const& c, After const& after = {}) {
        castnet::ir::run_launches<device, Plan>(c, after);
    }

    template <class Program>
    static constexpr kernel fused_kernel() {
        return castnet::cuda::fused_kernel<Program, context>();
    }
    template <castnet::op Kind>
    static void product(castnet::ir::kernel_launch const& s, castnet::ir::launch_tables const& t,
                        context const& c) {
        simt::context<T> host;
        std::copy(c.region, c.region + 4, host.region);
        host.samples = c.samples;
        host.iteration = c.iteration;
        host.repetition = c.repetition;
        host.parts = c.parts;
        c.put([&s, &t, host] { loops::template operation_kernel<Kind>()(s, t, host); });
    }
    template <castnet::op K>
    static constexpr kernel operation_kernel() {
        using castnet::op;
        if constexpr (K == op::matmul || K == op::matmul_data || K == op::matmul_weight ||
                      K == op::conv || K == op::conv_data || K == op::conv_weight) {
            return &product<K>;
        } else if constexpr (K == op::copy) {
            return nullptr; // from GPU to GPU
        } else {
            return castnet::cuda::kernel_for<context, K>::of();
        }
    }
};

template <bool OneBlock, bool Bf16 = false>
struct policy : castnet::policy::basic_cuda<double> {
    using device = on_host::device<double, OneBlock, Bf16>;
    static constexpr char const* name = "simulated GPU";
};

} // namespace on_host
