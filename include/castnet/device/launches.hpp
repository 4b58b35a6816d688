// Kernels of the launches of a plan on a device: each different program is instantiated once.
//
// A device has the types `kernel` (that runs a launch) and `context`, and the functions
//   static constexpr kernel fused_kernel<Program>()   of a fused program
//   static constexpr kernel operation_kernel<op>()     of any other operation
#pragma once

#include <castnet/plan/operation_kinds.hpp>
#include <castnet/plan/plan.hpp>
#include <castnet/plan/run_order.hpp>

#include <concepts>
#include <iterator>
#include <utility>

namespace castnet::ir {

template <class D>
concept Device = requires {
    typename D::value_type;
    typename D::context;
    typename D::kernel;
    typename D::memory;
    typename D::session;
    typename D::executor;
    typename D::replica_scope;
    { D::alignment } -> std::convertible_to<std::ptrdiff_t>;
    { D::whole_batches } -> std::convertible_to<bool>;
    { D::count() } -> std::convertible_to<int>;
    { D::scratch(kernel_launch{}, nullptr, instruction{}) } -> std::convertible_to<scratch_size>;
    { D::place_in_parameter(0, parameter{}) } -> std::convertible_to<std::ptrdiff_t>;
};

// Does nothing after a launch.
struct ignore_launches {
    void operator()(int) const {}
};

// Calls f(i) when all launches up to the i-th in the order in which they run (plan/run_order.hpp)
// are complete, at least at the end of every stage.
template <class F>
struct after_stages {
    F f;
    int ahead = 0; // of the numbers of launches, where blocks are repeated
    void operator()(int i) const { f(i + ahead); }
};

// To be called after the launches of a stage before which so many have run.
template <class After>
After after_launches(stage const&, int, After const& after) {
    return after;
}
template <class F>
after_stages<F const&> after_launches(stage const& g, int position, after_stages<F> const& after) {
    return {after.f, position - g.first};
}

template <class After>
inline constexpr bool calls_after_launches = true;
template <>
inline constexpr bool calls_after_launches<ignore_launches> = false;
template <class F>
inline constexpr bool calls_after_launches<after_stages<F>> = false;

// Table of functions, such as kernels: one for each program or launch of a plan.
template <class Kernel, int Count>
struct kernel_table {
    Kernel of[array_size(Count)];
};

// One of a plan's programs: a constant of its own, because nvcc 13.0 copies all of a constant for
// each number that a template argument takes of it.
template <int Length>
struct program_code {
    instruction at[array_size(Length)];
};
template <auto const& Plan, int Program>
constexpr auto copy_program() {
    constexpr int first = Plan.first_instruction[Program],
                  length = Plan.first_instruction[Program + 1] - first;
    program_code<length> code{};
    copy_array(code.at, Plan.instructions + first, length);
    return code;
}

template <auto const& Code, size_t... I>
auto program_type(std::index_sequence<I...>) -> program<Code.at[I]...>;

template <auto const& Plan, int Program>
struct program_of {
    static constexpr auto code = copy_program<Plan, Program>();
    using type = decltype(program_type<code>(std::make_index_sequence<std::size(code.at)>{}));
};

// The type of a plan's program.
template <auto const& Plan, int Program>
using code_of = typename program_of<Plan, Program>::type;

// Whether a kernel of each program may be called: not if it is an epilogue that is always fused.
template <class Device, auto const& Plan>
constexpr auto find_called() {
    kernel_table<bool, Plan.sizes.programs> called{};
    for (int i = 0; i < Plan.sizes.launches; ++i) {
        kernel_launch const& s = Plan.launch(i);
        if (s.program >= 0 && (MayNotFinish<Device> || is_fused(s))) {
            called.of[s.program] = true;
        }
    }
    return called;
}
template <class Device, auto const& Plan>
inline constexpr auto called_programs = find_called<Device, Plan>();

template <class Device, auto const& Plan, int Program>
constexpr typename Device::kernel fused_kernel() {
    if constexpr (called_programs<Device, Plan>.of[Program]) {
        return Device::template fused_kernel<castnet::ir::code_of<Plan, Program>>();
    } else {
        return {};
    }
}

template <class Device, auto const& Plan, size_t... P>
constexpr kernel_table<typename Device::kernel, Plan.sizes.programs>
make_fused_kernels(std::index_sequence<P...>) {
    return {{fused_kernel<Device, Plan, int(P)>()...}};
}

// The kernels of a plan's programs.
template <class Device, auto const& Plan>
inline constexpr auto fused_kernels =
    make_fused_kernels<Device, Plan>(std::make_index_sequence<size_t(Plan.sizes.programs)>{});

// A class, so that every compiler prints the types. (What copies from GPU to GPU is no kernel.)
template <class Device, op K>
struct operation_has_kernel {
    static_assert(
        K == op::copy || requires { Device::template operation_kernel<K>(); },
        "castnet: an operation of the network has no kernel for the policy's device: "
        "specialise kernel_for<T, K> or kernel_for<Context, K>, as device/cpu/kernel.hpp and "
        "device/cuda/kernel_for.hpp say; see operation_has_kernel<device, operation>");
    static constexpr bool checked = true;
};

// The kernel of an operation of the plan from Least on that is no fused program.
template <class Device, auto const& Plan, op Least = op{}>
constexpr typename Device::kernel operation_kernel(op kind) {
    return with_operation_kind<Plan, Least>(kind, [](auto found) -> typename Device::kernel {
        constexpr op K = decltype(found)::value;
        static_assert(operation_has_kernel<Device, K>::checked);
        if constexpr (requires { Device::template operation_kernel<K>(); }) {
            return Device::template operation_kernel<K>();
        } else {
            return {};
        }
    });
}

// The context for a launch.
template <class Context>
CASTNET_HD Context context_of(kernel_launch const& s, array_ref const* arrays, Context c) {
    if (!is_of_samples(s, arrays)) {
        c.samples = 1;
    }
    return c;
}

// Calls the kernel of launch i of the plan.
template <class Device, auto const& Plan>
void run_launch(int i, typename Device::context const& of_plan) {
    static constexpr launch_tables tables{Plan.arrays, Plan.scalars, Plan.windows};
    kernel_launch const& s = Plan.launch(i);
    typename Device::context const c = context_of(s, Plan.arrays, of_plan);
    typename Device::kernel const k = is_fused(s) ? fused_kernels<Device, Plan>.of[s.program]
                                                  : operation_kernel<Device, Plan>(s.kind);
    k(s, tables, c);
    if constexpr (MayNotFinish<Device>) {
        if (s.end.does_anything() && !Device::finishes(s, tables, c)) {
            fused_kernels<Device, Plan>.of[s.program](epilogue_launch(s), tables, c);
        }
    }
}

// Calls the kernels of a stage's launches, in order, those of a loop in every iteration, in one of
// its repetitions, and after(i) when launch i has been called for the last time.
template <class Device, auto const& Plan, class After>
void run_stage(stage const& g, int repetition, typename Device::context const& c,
               After const& after) {
    typename Device::context mine = c;
    mine.repetition = repetition;
    for (int k = 1; k <= g.iterations; ++k) {
        mine.iteration = g.backwards ? g.iterations - k : k - 1;
        for (int i = g.first; i < g.last && k < g.iterations; ++i) {
            run_launch<Device, Plan>(i, mine);
        }
    }
    for (int i = g.first; i < g.last; ++i) {
        run_launch<Device, Plan>(i, mine);
        after(i);
    }
}

// The same of all stages of a plan, in the order in which they run.
template <class Device, auto const& Plan, class After>
void run_launches(typename Device::context const& c, After const& after) {
    for_each_stage(Plan, [&](stage const& g, int repetition, int position) {
        run_stage<Device, Plan>(g, repetition, c, after_launches(g, position, after));
    });
}

} // namespace castnet::ir
