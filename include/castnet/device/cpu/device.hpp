// The CPU as a place where plans run: a table of kernels, and a loop over the steps.
#pragma once

#include <castnet/device/cpu/conv.hpp>
#include <castnet/device/cpu/executor.hpp>
#include <castnet/device/cpu/layout.hpp>
#include <castnet/device/cpu/map.hpp>
#include <castnet/device/cpu/matmul.hpp>
#include <castnet/device/cpu/memory.hpp>
#include <castnet/device/cpu/optimize.hpp>
#include <castnet/device/cpu/pool.hpp>
#include <castnet/device/cpu/rearrange.hpp>
#include <castnet/device/cpu/reduce.hpp>
#include <castnet/device/cpu/small.hpp>
#include <castnet/device/steps.hpp>

#include <utility>

namespace castnet {

template <class T>
struct cpu_device {
    using value_type = T;
    using context = cpu::context<T>;
    using memory = cpu::memory;
    using session = cpu::session;
    using executor = cpu::executor<cpu_device>;
    static constexpr std::ptrdiff_t alignment = cpu::alignment;
    static constexpr bool whole_batches = false; // a step computes the samples that are there
    using kernel = void (*)(step const&, cpu::tables const&, context const&);

    static constexpr std::ptrdiff_t place_in_sample(std::ptrdiff_t i, extents size, bool image) {
        return cpu::place_in_sample(i, size, image);
    }
    static constexpr std::ptrdiff_t place_in_parameter(std::ptrdiff_t i, parameter const& p) {
        return cpu::place_in_parameter(i, p);
    }

    template <int Slots, class... Arguments>
    static void optimize(Arguments&&... arguments) {
        cpu::optimize<Slots>(std::forward<Arguments>(arguments)...);
    }

    // Elements of memory that a step needs besides its operands and its result.
    static constexpr std::ptrdiff_t scratch(step const& s, window const* windows,
                                            extents const* operands, instruction const& end) {
        switch (s.kind) {
        case op::reduce:
            return s.space.sample && (end.b & 3) == 0
                       ? cpu::lanes * ((end.b & 4) ? s.space.channels : 1)
                       : 0;
        case op::matmul_data:
            return operands[1].count();
        case op::conv:
            return cpu::conv_scratch(windows[s.window]);
        case op::conv_data:
            return cpu::conv_data_scratch(windows[s.window]);
        case op::conv_weight:
            return cpu::conv_weight_scratch(windows[s.window]);
        default:
            return 0;
        }
    }

    // Runs all steps of a plan; `Plan` is a constant with static storage. after(i) is called when
    // step i has ended, for those who measure.
    template <auto const& Plan, class After = ignore_steps>
    static void run(context const& c, After const& after = {}) {
        if constexpr (cpu::is_small(Plan)) {
            static constexpr cpu::tables tables{Plan.arrays, Plan.scalars, Plan.windows};
            run_small<Plan>(tables, c, after, std::make_index_sequence<size_t(Plan.sizes.steps)>{});
        } else {
            run_steps<cpu_device, Plan>(c, after);
        }
    }

    template <class Program>
    static constexpr kernel fused_kernel() {
        if constexpr (Program::end.code == opcode::store) {
            return &cpu::map<Program, T>;
        } else {
            return &cpu::reduce<Program, T>;
        }
    }

    static kernel kernel_of(op kind) {
        switch (kind) {
        case op::matmul:
            return &cpu::matmul<T>;
        case op::matmul_data:
            return &cpu::matmul_data<T>;
        case op::matmul_weight:
            return &cpu::matmul_weight<T>;
        case op::conv:
            return &cpu::conv<T>;
        case op::conv_data:
            return &cpu::conv_data<T>;
        case op::conv_weight:
            return &cpu::conv_weight<T>;
        case op::max_pool:
            return &cpu::max_pool<T>;
        case op::max_pool_gradient:
            return &cpu::max_pool_gradient<T>;
        case op::avg_pool:
            return &cpu::avg_pool<T>;
        case op::avg_pool_gradient:
            return &cpu::avg_pool_gradient<T>;
        case op::upsample:
            return &cpu::upsample<T>;
        case op::upsample_gradient:
            return &cpu::upsample_gradient<T>;
        case op::concat:
            return &cpu::concat<T>;
        case op::slice:
            return &cpu::slice<T>;
        case op::reshape:
            return &cpu::reshape<T>;
        default:
            return nullptr; // sources and fused programs are no steps of this table
        }
    }

private:
    template <auto const& Plan, class After, size_t... I>
    static void run_small(cpu::tables const& t, context const& c, After const& after,
                          std::index_sequence<I...>) {
        (..., (run_small_step<Plan, int(I)>(t, c), after(int(I))));
    }
    template <auto const& Plan, int I>
    static void run_small_step(cpu::tables const& t, context const& c) {
        if constexpr (constexpr int program = Plan.steps[I].program; program >= 0) {
            cpu::small_step<Plan, I, code_of<Plan, program>>(t, c);
        } else {
            cpu::small_step<Plan, I, void>(t, c);
        }
    }
};

} // namespace castnet
