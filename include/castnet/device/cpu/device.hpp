// CPU device: a table of kernels, and the loop over a plan's launches.
#pragma once

#include <castnet/device/constant_launch.hpp>
#include <castnet/device/cpu/denormals.hpp>
#include <castnet/device/cpu/epilogue.hpp>
#include <castnet/device/cpu/executor.hpp>
#include <castnet/device/cpu/kernels.hpp>
#include <castnet/device/cpu/layout.hpp>
#include <castnet/device/cpu/map.hpp>
#include <castnet/device/cpu/matmul.hpp>
#include <castnet/device/cpu/memory.hpp>
#include <castnet/device/cpu/optimize.hpp>
#include <castnet/device/cpu/optimize_parameter.hpp>
#include <castnet/device/cpu/peak.hpp>
#include <castnet/device/cpu/rearrange.hpp>
#include <castnet/device/cpu/reduce.hpp>
#include <castnet/device/cpu/replica_scope.hpp>
#include <castnet/device/cpu/small.hpp>
#include <castnet/device/cpu/special_conv.hpp>
#include <castnet/device/launches.hpp>

#include <algorithm>
#include <atomic>
#include <type_traits>
#include <utility>

namespace castnet::inline CASTNET_TARGET {

template <class Device, int N>
struct cpu_devices; // device/cpu/devices.hpp

// F: what products multiply (cpu/factor.hpp).
template <class T, class F = T>
struct cpu_device {
    using value_type = T;
    using context = cpu::context<T>;
    using memory = cpu::memory;
    using replica_scope = cpu::replica_scope;
    using session = cpu::session;
    using executor = cpu::executor<cpu_device>;
    using kernel = cpu::kernel<T>;
    template <int N>
    using several = cpu_devices<cpu_device, N>; // of policy::model_parallel
    static constexpr std::ptrdiff_t alignment = ir::cpu_alignment;
    static constexpr bool whole_batches = false; // a step computes the samples that are there

    static constexpr int count() { return 1; } // such devices in the machine

    // The kernel of a launch that is no fused program, and, if `Special`, possibly a convolution
    // of special_conv.hpp.
    template <bool Special = true>
    static constexpr kernel kernel_of(ir::kernel_launch const& s, ir::window const* windows) {
        if constexpr (Special) {
            if (cpu::is_special<F>(s, windows)) {
                return cpu::special_conv_kernel<F>(s.kind, windows[s.window]);
            }
        }
        return cpu::kernel_entry_of<F>(s.kind).kernel_of(s, windows);
    }

    static constexpr std::ptrdiff_t place_in_parameter(std::ptrdiff_t i, parameter const& p) {
        return cpu::place_in_parameter(i, p);
    }

    // Floating-point operations per second that this machine could do, measured.
    static double peak_flops() { return cpu::peak_flops<T>(); }

    // A bias, alone or with a rectifier, joins the product in the registers.
    static constexpr bool takes_epilogue(op, ir::epilogue const& e) { return cpu::is_tile_end(e); }

    template <int Slots, class... Arguments>
    static void optimize(Arguments&&... arguments) {
        cpu::optimize<Slots>(std::forward<Arguments>(arguments)...);
    }
    template <int Slots, class Rule>
    static void optimize_parameter(Rule const& rule, parameter const& p,
                                   cpu::optimized<T> const& all, T* scratch) {
        cpu::optimize_parameter<Slots>(rule, p, all, scratch);
    }
    // Elements of scratch memory for those of a plan, in region::workspace.
    template <class Rule, int Slots, class Plan>
    static constexpr std::ptrdiff_t update_scratch(Plan const& plan) {
        std::ptrdiff_t most = 0;
        for (ir::placed_parameter const& p : plan.parameters) {
            most = std::max(most, cpu::update_scratch<Rule>(p));
        }
        return most;
    }
    template <class... Arguments>
    static double sum_of_squares(Arguments&&... arguments) {
        return cpu::sum_of_squares(std::forward<Arguments>(arguments)...);
    }

    // Memory that a launch needs besides its operands and its result.
    static constexpr ir::scratch_size scratch(ir::kernel_launch const& s, ir::window const* windows,
                                              ir::instruction const& end) {
        if (s.kind == op::reduce) {
            return {0, cpu::chunk_sum_size(s, end), 0};
        }
        if (cpu::is_special<F>(s, windows)) {
            return cpu::special_conv_scratch<F>(s.kind, windows[s.window]);
        }
        if (s.kind == op::matmul || s.kind == op::matmul_data) {
            return cpu::matmul_scratch<F>(s);
        }
        if (s.window >= 0 && cpu::multiplies_batch<T>(s, windows[s.window])) {
            return {};
        }
        cpu::kernel_entry<T> const entry = cpu::kernel_entry_of<F>(s.kind);
        return entry.has_scratch ? entry.scratch(windows[s.window]) : ir::scratch_size{};
    }

    static constexpr int chunks = cpu::chunks;

    // How many samples a chunk takes through this launch at once, if there are so many elements in
    // the sample's operands and results; 0 for launches that need the whole batch.
    static constexpr int samples_at_once(ir::kernel_launch const& s, ir::window const* windows,
                                         ir::instruction const& end, std::ptrdiff_t elements) {
        cpu::kernel_entry<T> const entry = cpu::kernel_entry_of<F>(s.kind);
        bool const whole = s.kind == op::map      ? !s.space.sample
                           : s.kind == op::reduce ? !s.space.sample || (end.b & 3) == 2
                                                  : entry.has_whole && entry.whole(s, windows);
        std::ptrdiff_t const fit = cpu::chunk_cache / (elements * std::ptrdiff_t{sizeof(T)} + 1);
        return whole ? 0
                     : static_cast<int>(
                           std::clamp(fit, std::ptrdiff_t{1}, cpu::most_samples_at_once));
    }

    static constexpr bool keeps_batch = true;

    // Stages compute values again in the cache.
    static constexpr bool recomputes = true;

    // Values in a plan's region::prepared are computed apart from its runs.
    static constexpr bool prepares = true;

    // Computes what a plan keeps, of the parameters of this context.
    template <auto const& Plan>
    static void prepare([[maybe_unused]] context const& c) {
#ifndef __CUDA_ARCH__ // nvcc instantiates everything once more for the GPU, where nothing calls
                      // this
        cpu::flush_denormals const here;
        if constexpr (cpu::is_small(Plan)) {
            prepare_small<Plan>(c, std::make_index_sequence<size_t(Plan.sizes.launches)>{});
        } else {
            ir::for_each_stage(Plan, [&](ir::stage const& g, int repetition, int) {
                context mine = c;
                mine.repetition = repetition;
                keep_weights<Plan>(g, mine);
                if (Plan.launches[g.first].once) {
                    run_stage<Plan>(g, mine, ir::ignore_launches{});
                }
            });
        }
#endif
    }

    // Runs all launches of a plan but those of prepare(); `Plan` is a constant with static storage.
    // after(i) is called when launch i has run, for those who measure: once or, in a stage, for all
    // of its parts, and then the stages run on the calling thread alone. Or only at the end of
    // stages: see after_stages.
    template <auto const& Plan, class After = ir::ignore_launches>
    static void run([[maybe_unused]] context const& c, [[maybe_unused]] After const& after = {}) {
#ifndef __CUDA_ARCH__
        cpu::flush_denormals const here;
        if constexpr (cpu::is_small(Plan)) {
            run_small<Plan>(c, after, std::make_index_sequence<size_t(Plan.sizes.launches)>{});
        } else {
            ir::for_each_stage(Plan, [&](ir::stage const& g, int repetition, int position) {
                context mine = c;
                mine.repetition = repetition;
                if (!Plan.launches[g.first].once) {
                    run_stage<Plan>(g, mine, ir::after_launches(g, position, after));
                }
            });
        }
#endif
    }

    template <class Code>
    static constexpr kernel fused_kernel() {
        if constexpr (Code::end.code == ir::opcode::store) {
            return {&cpu::map<Code, T>};
        } else if constexpr (static_cast<ir::reduction>(Code::end.a) == ir::reduction::sum &&
                             (Code::end.b & 3) == 0) {
            return {.run = &cpu::reduce_chunk<Code, T>,
                    .begin = &cpu::reduce_begin<Code, T>,
                    .finish = &cpu::reduce_finish<Code, T>,
                    .whole = &cpu::reduce<Code, T>,
                    .has_whole = true};
        } else {
            return {&cpu::reduce<Code, T>};
        }
    }

    // Of an operation that is in no table; kernel_of() has the others.
    template <op K>
    static constexpr kernel operation_kernel()
        requires requires { cpu::kernel_for<T, K>::of({}, nullptr); }
    {
        return cpu::kernel_for<T, K>::of({}, nullptr);
    }

protected:
    // A constant: so kernels that no launch of a plan needs are not compiled.
    template <auto const& Plan>
    static constexpr auto kernels_of_launches() {
        constexpr bool special = std::any_of(
            Plan.launches, Plan.launches + Plan.sizes.launches,
            [](ir::kernel_launch const& s) { return cpu::is_special<F>(s, Plan.windows); });
        ir::kernel_table<kernel, Plan.sizes.launches> table{};
        for (ir::stage const& g : Plan.stages) {
            for (int i = g.first; i < g.last; ++i) {
                ir::kernel_launch const& s = Plan.launches[i];
                kernel const k = ir::is_fused(s) ? ir::fused_kernels<cpu_device, Plan>.of[s.program]
                                 : s.kind < op::count
                                     ? kernel_of<special>(s, Plan.windows)
                                     : ir::operation_kernel<cpu_device, Plan, op::count>(s.kind);
                kernel const part = g.samples_at_once == 0 ? k.alone() : k.in_chunks();
                table.of[i] = Plan.keeps_weight(s) ? part.with_kept_weight() : part;
                table.of[i].of_samples = ir::is_of_samples(s, Plan.arrays);
                table.of[i].slices = cpu::slices_at_once<T>(Plan, g, i);
            }
        }
        return table;
    }

    template <auto const& Plan>
    static constexpr cpu::tables tables{Plan.arrays, Plan.scalars, Plan.windows};
    template <auto const& Plan>
    static constexpr auto kernels = kernels_of_launches<Plan>();

    template <auto const& Plan, class After>
    static void run_stage(ir::stage const& g, context const& c, After const& after) {
        cpu::run_stage(g, Plan.launches, kernels<Plan>.of, tables<Plan>, c, after);
    }
    template <auto const& Plan>
    static void keep_weights(ir::stage const& g, context const& c) {
        cpu::keep_weights(g, Plan.launches, kernels<Plan>.of, tables<Plan>, c);
    }
    // Step I of a small plan.
    template <auto const& Plan, int I>
    static void run_small_launch(context const& c) {
        small_launch<Plan, I>(c, c.region);
        memory_is_written();
    }

private:
    // GCC 12 may reach one array by a multiple of the address of another one (ivopts). Then it
    // takes what is stored there for nothing that anyone sees, and drops the call of the function.
    [[gnu::always_inline]] static void memory_is_written() {
        std::atomic_signal_fence(std::memory_order_acq_rel);
    }
    template <auto const& Plan, class After, size_t... I>
    static void run_small(context const& c, After const& after, std::index_sequence<I...>) {
        T* regions[ir::regions]; // a copy, which storing a result does not change
        std::copy_n(c.region, ir::regions, regions);
        (..., run_small_launch<Plan, int(I), false>(c, regions, after));
        memory_is_written();
    }
    template <auto const& Plan, size_t... I>
    static void prepare_small(context const& c, std::index_sequence<I...>) {
        (..., run_small_launch<Plan, int(I), true>(c, c.region, ir::ignore_launches{}));
        memory_is_written();
    }
    template <auto const& Plan, int I, bool Once, class After>
    [[gnu::always_inline]] static void run_small_launch(context const& c, T* const* regions,
                                                        After const& after) {
        if constexpr (Plan.launches[I].once == Once) {
            if constexpr (cpu::is_one_function(Plan)) {
                small_launch<Plan, I>(c, regions);
            } else {
                run_small_launch<Plan, I>(c);
            }
            after(I);
        }
    }
    template <auto const& Plan, int I>
    [[gnu::always_inline]] static void small_launch(context const& c, T* const* regions) {
        cpu::small_launch<ir::constant_launch_of<Plan, I>, Plan.batch == 1>(
            Plan.scalars, Plan.launches[I].factor, c, regions);
    }
};

static_assert(ir::Device<cpu_device<float>> && ir::Device<cpu_device<double>>);

} // namespace castnet::inline CASTNET_TARGET
