// Launches of a plan as types, for kernels that are compiled for one launch with constant sizes. A
// type holds integers only, so that it can be a template argument of a kernel: nvcc 13.0 rounds
// floating-point numbers there, so these are passed at run time.
#pragma once

#include <castnet/device/launches.hpp>

namespace castnet::ir {

// Code is the program of an element-wise launch, or void; Arrays are its operands and its results.
template <kernel_launch S, class Code, window Window, array_ref... Arrays>
struct constant_launch {
    static constexpr kernel_launch numbers = S;
    static constexpr array_ref arrays[] = {Arrays...};
    using code = Code;
};

template <class... Step>
struct constant_launches {};

// The launch with indices into a constant_launch's own arrays.
constexpr kernel_launch with_own_arrays(kernel_launch s) {
    s.first_array = 0;
    s.output = s.arrays;
    s.scratch = s.sums = s.chunk_scratch = s.prepared = -1;
    s.window = s.window >= 0 ? 0 : -1;
    s.factor = 1;
    s.program = -1;
    s.flops = 0;
    return s;
}

template <auto const& Plan, int Program>
struct code_or_void {
    using type = castnet::ir::code_of<Plan, Program>;
};
template <auto const& Plan>
struct code_or_void<Plan, -1> {
    using type = void;
};

template <auto const& Plan, int I, class Numbers>
struct make_constant_launch;
template <auto const& Plan, int I, size_t... K>
struct make_constant_launch<Plan, I, std::index_sequence<K...>> {
    static constexpr kernel_launch from = Plan.launches[I];
    using type = constant_launch<with_own_arrays(Plan.launches[I]),
                                 typename code_or_void<Plan, from.program>::type,
                                 from.window >= 0 ? Plan.windows[from.window] : window{},
                                 Plan.arrays[from.first_array + int(K)]...>;
};

template <auto const& Plan, class Numbers>
struct make_constant_launches;

template <auto const& Plan, int I>
using constant_launch_of = typename make_constant_launch<
    Plan, I,
    std::make_index_sequence<size_t(Plan.launches[I].arrays + Plan.launches[I].results)>>::type;

template <auto const& Plan, size_t... I>
struct make_constant_launches<Plan, std::index_sequence<I...>> {
    using type = constant_launches<constant_launch_of<Plan, int(I)>...>;
};
template <auto const& Plan>
using constant_launches_of =
    typename make_constant_launches<Plan,
                                    std::make_index_sequence<size_t(Plan.sizes.launches)>>::type;

} // namespace castnet::ir
