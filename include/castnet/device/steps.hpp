// Kernels of the steps of a plan on a device: each different program is instantiated once.
//
// A device has the types `kernel` (what a step is run with) and `context`, and the functions
//   static constexpr kernel fused_kernel<Program>()   of a fused program
//   static kernel kernel_of(op)                        of any other operation (for run_steps())
#pragma once

#include <castnet/plan/plan.hpp>

#include <utility>

namespace castnet {

// Does nothing after a step.
struct ignore_steps {
    void operator()(int) const {}
};

// Calls f(i) when all steps up to i are done, at least at the end of every stage.
template <class F>
struct after_stages {
    F f;
    void operator()(int i) const { f(i); }
};

// Whether a step is a fused program.
constexpr bool is_fused(step const& s) {
    return s.kind == op::map || s.kind == op::reduce;
}

template <class After>
inline constexpr bool calls_after_steps = true;
template <>
inline constexpr bool calls_after_steps<ignore_steps> = false;
template <class F>
inline constexpr bool calls_after_steps<after_stages<F>> = false;

namespace detail {

template <auto const& Plan, int Program, size_t... I>
auto code_of(std::index_sequence<I...>)
    -> program<Plan.instructions[Plan.first_instruction[Program] + int(I)]...>;

template <class Kernel, int Count>
struct kernel_table {
    Kernel of[room(Count)];
};

} // namespace detail

// The type of a plan's program.
template <auto const& Plan, int Program>
using code_of = decltype(detail::code_of<Plan, Program>(
    std::make_index_sequence<size_t(Plan.first_instruction[Program + 1] -
                                    Plan.first_instruction[Program])>{}));

namespace detail {

// Whether a kernel of this program may be called: not if it is an epilogue that is always done.
template <class Device, auto const& Plan>
constexpr bool is_called(int program) {
    for (int i = 0; i < Plan.sizes.steps; ++i) {
        step const& s = Plan.steps[i];
        if (s.program == program && (MayNotFinish<Device> || is_fused(s))) {
            return true;
        }
    }
    return false;
}

template <class Device, auto const& Plan, int Program>
constexpr typename Device::kernel fused_kernel() {
    if constexpr (is_called<Device, Plan>(Program)) {
        return Device::template fused_kernel<castnet::code_of<Plan, Program>>();
    } else {
        return {};
    }
}

template <class Device, auto const& Plan, size_t... P>
constexpr kernel_table<typename Device::kernel, Plan.sizes.programs>
make_fused_kernels(std::index_sequence<P...>) {
    return {{fused_kernel<Device, Plan, int(P)>()...}};
}

} // namespace detail

// The kernels of a plan's programs.
template <class Device, auto const& Plan>
inline constexpr auto fused_kernels = detail::make_fused_kernels<Device, Plan>(
    std::make_index_sequence<size_t(Plan.sizes.programs)>{});

// Calls the kernel of every step of the plan, in order, and after(i) when step i has been called.
template <class Device, auto const& Plan, class After>
void run_steps(typename Device::context const& c, After const& after) {
    static constexpr step_tables tables{Plan.arrays, Plan.scalars, Plan.windows};
    for (int i = 0; i < Plan.sizes.steps; ++i) {
        step const& s = Plan.steps[i];
        typename Device::kernel const k =
            is_fused(s) ? fused_kernels<Device, Plan>.of[s.program] : Device::kernel_of(s.kind);
        k(s, tables, c);
        if constexpr (MayNotFinish<Device>) {
            if (s.end.does_anything() && !Device::finishes(s, tables, c)) {
                fused_kernels<Device, Plan>.of[s.program](epilogue_step(s), tables, c);
            }
        }
        after(i);
    }
}

} // namespace castnet
