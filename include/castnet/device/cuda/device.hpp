// GPU device: kernels, memory and an executor for plans on one GPU.
#pragma once

#include <castnet/device/cuda/conv.hpp>
#include <castnet/device/cuda/executor.hpp>
#include <castnet/device/cuda/kernels.hpp>
#include <castnet/device/cuda/layout.hpp>
#include <castnet/device/cuda/loop_kernel.hpp>
#include <castnet/device/cuda/matmul.hpp>
#include <castnet/device/cuda/planning.hpp>
#include <castnet/device/cuda/prepare.hpp>
#include <castnet/device/launches.hpp>

namespace castnet {

template <class Device, int N>
struct cuda_devices; // device/cuda/devices.hpp

// Bf16: products and convolutions read bfloat16 (plan/mixed_precision.hpp).
template <class T, bool Bf16 = false>
struct cuda_device : cuda::planning<T, Bf16> {
    using context = cuda::context<T>;
    using memory = cuda::memory;
    using session = cuda::session;
    using executor = cuda::executor<cuda_device>;
    using replica_scope = cuda::replica_scope;
    using stored_array = cuda::stored_array<T>; // of a data set in the GPU's memory
    using kernel = cuda::kernel<context>;

    template <int N>
    using several = cuda_devices<cuda_device, N>; // of policy::model_parallel

    static constexpr bool whole_batches = true;         // see device/cuda/context.hpp
    static int count() { return cuda::device_count(); } // that the program sees

    static constexpr std::ptrdiff_t place_in_parameter(std::ptrdiff_t i, parameter const& p) {
        return cuda::place_in_parameter(i, p);
    }

    // Whether all launches of a plan are one kernel.
    template <auto const& Plan>
    static constexpr bool in_one_block = !Bf16 && cuda::fits_one_block<T>(Plan);

    // Whether all iterations of a loop are one kernel.
    template <auto const& Plan, int Stage>
    static constexpr bool in_one_kernel = cuda::is_loop_kernel<T>(Plan, Plan.stages[Stage]);

    // Whether the kernel of a product or convolution has done its epilogue.
    static bool finishes(ir::kernel_launch const& s, cuda::tables const& t, context const& c) {
        if (s.kind == op::conv) {
            return cuda::has_few_channels(s, t, c) ||
                   c.library->prepare(cuda::convolution_of(s, t, c)).finishes;
        }
        return cuda::is_small_weight(s, t) ||
               c.library->prepare(cuda::product_of(s, t, c)).finishes;
    }

    // Lets the libraries choose what the launches of a plan need, those of one of its devices.
    template <auto const& Plan>
    static void prepare(context const& c, int device = 0) {
        cuda::choose_algorithms<Plan>(c, device);
    }
    // Puts all launches of a plan on the context's stream, one by one; then calls after(i) for
    // launch i.
    template <auto const& Plan, class After = ir::ignore_launches>
    static void run(context const& c, After const& after = {}) {
        ir::for_each_stage(Plan, [&](ir::stage const& g, int repetition, int position) {
            cuda::enqueue_stage<cuda_device, Plan>(g, repetition, c,
                                                   ir::after_launches(g, position, after));
        });
    }

    template <class Program>
    static constexpr kernel fused_kernel() {
        return cuda::fused_kernel<Program, context>();
    }
    template <op K>
    static constexpr kernel operation_kernel()
        requires requires { cuda::kernel_for<context, K>::of(); }
    {
        return cuda::kernel_for<context, K>::of();
    }
};

static_assert(ir::Device<cuda_device<float>> && ir::Device<cuda_device<float, true>>);

} // namespace castnet
