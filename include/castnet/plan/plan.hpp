// Plan: everything that a step needs at run time, as a constant of fixed size.
#pragma once

#include <castnet/plan/carried_values.hpp>
#include <castnet/plan/fixed_buffers.hpp>
#include <castnet/plan/workspace_assignment.hpp>

#include <iterator>
#include <type_traits>

namespace castnet::ir {

struct plan_sizes {
    int inputs = 0, targets = 0, given = 0;
    int launches = 0, arrays = 0, scalars = 0, windows = 0, programs = 0, instructions = 0;
    int parameters = 0, outputs = 0, stages = 0, devices = 1;
};

constexpr plan_sizes sizes_of(graph_view const& g, launch_list_sizes const& s, int stages,
                              int devices = 1) {
    plan_sizes z{0,
                 0,
                 0,
                 s.launches,
                 s.arrays,
                 s.scalars,
                 g.window_count,
                 s.programs,
                 s.instructions,
                 0,
                 g.output_count,
                 stages,
                 devices};
    for (int i = 0; i < g.parameter_count; ++i) {
        int const block = g.parameters[i].repeat;
        z.parameters += block < 0 ? 1 : g.repeat_at(block).count;
    }
    for (int i = 0; i < g.node_count; ++i) {
        op const kind = g.nodes[i].kind;
        z.inputs += kind == op::input;
        z.targets += kind == op::target;
        z.given += kind == op::scalar;
    }
    return z;
}

// The memory of a plan, and where the numbers of its batch lie.
template <plan_sizes Z>
struct plan_memory {
    static constexpr plan_sizes sizes = Z;

    array_ref inputs[array_size(Z.inputs)]{};
    array_ref targets[array_size(Z.targets)]{};
    array_ref outputs[array_size(Z.outputs)]{};
    int batch = 0;                  // samples that it was made for
    std::ptrdiff_t trainable = 0;   // elements of region::parameters that are trained
    std::ptrdiff_t size[regions]{}; // elements of each region
    device_memory devices[array_size(Z.devices)]{};
    std::ptrdiff_t weights = 0, sample_mask = 0, present = 0; // offsets in region::batch
    std::ptrdiff_t given[array_size(Z.given)]{}; // the same of scalars that losses and metrics have
    std::ptrdiff_t staging = 0; // one image in logical order, also in region::batch

    constexpr std::ptrdiff_t elements(region r) const { return size[static_cast<int>(r)]; }
    constexpr std::ptrdiff_t& elements(region r) { return size[static_cast<int>(r)]; }
};

// Tables of a plan.
template <plan_sizes Z>
struct plan_tables : plan_memory<Z> {
    kernel_launch launches[array_size(Z.launches)]{};
    stage stages[array_size(Z.stages)]{};
    array_ref arrays[array_size(Z.arrays)]{};
    double scalars[array_size(Z.scalars)]{};
    window windows[array_size(Z.windows)]{};
    instruction instructions[array_size(Z.instructions)]{};
    int first_instruction[array_size(Z.programs +
                                     1)]{}; // per program; one more for the end of the last
    placed_parameter parameters[array_size(Z.parameters)]{};

    template <class LaunchList, class Stages>
    constexpr plan_tables(graph_view const& g, LaunchList const& s, lifetimes_view const& lives,
                          Stages const& found, int capacity, std::ptrdiff_t alignment,
                          int bf16_per_value, bool keeps = false, bool keeps_batch = false) {
        this->batch = capacity;
        copy_array(launches, s.launches, Z.launches);
        copy_array(stages, found.of, Z.stages);
        copy_array(scalars, s.scalars, Z.scalars);
        copy_array(windows, g.windows, Z.windows);
        copy_array(instructions, s.instructions, Z.instructions);
        copy_array(first_instruction, s.first_instruction, Z.programs + 1);
        buffer_assignment buffers{g, lives};
        fixed_buffers<plan_tables> fixed{*this, g, buffers, alignment};
        fixed.run();
        if (keeps_batch) {
            place_carried(*this, g, s.arrays, lives, buffers);
        }
        workspace_assignment<plan_tables> workspace{
            *this,         g,     s.arrays,  buffers,       lives, found.chunks,
            found.workers, keeps, alignment, bf16_per_value};
        workspace.run();
        for (int i = 0; i < Z.outputs; ++i) {
            this->outputs[i] = buffers.ref(g.outputs[i]);
        }
    }
};

// A table of a plan.
template <class T, size_t N>
struct constant_table {
    T of[N];
};
template <class Tables, class T, size_t N>
constant_table<T, N> table_like(T (Tables::*)[N]);

// The plan of Made::tables as programs have it: all is in its type, and each table a constant of
// its own. (Wherever a template takes a constant or an expression names one, nvcc 13.0 copies it.)
template <class Made>
struct plan {
private:
    using tables = std::remove_const_t<decltype(Made::tables)>;
    template <auto Table>
    static constexpr auto copy_table() {
        decltype(table_like(Table)) copy{};
        for (size_t i = 0; i < std::size(copy.of); ++i) {
            copy.of[i] = (Made::tables.*Table)[i];
        }
        return copy;
    }
    template <auto Table>
    static constexpr auto table = copy_table<Table>();
    static constexpr plan_memory<tables::sizes> memory = Made::tables;

public:
    static constexpr plan_sizes sizes = tables::sizes;
    static constexpr auto const& launches = table<&tables::launches>.of;
    static constexpr auto const& stages = table<&tables::stages>.of;
    static constexpr auto const& arrays = table<&tables::arrays>.of;
    static constexpr auto const& scalars = table<&tables::scalars>.of;
    static constexpr auto const& windows = table<&tables::windows>.of;
    static constexpr auto const& instructions = table<&tables::instructions>.of;
    static constexpr auto const& first_instruction = table<&tables::first_instruction>.of;
    static constexpr auto const& parameters = table<&tables::parameters>.of;
    static constexpr auto const& inputs = memory.inputs;
    static constexpr auto const& targets = memory.targets;
    static constexpr auto const& outputs = memory.outputs;
    static constexpr int batch = memory.batch;
    static constexpr std::ptrdiff_t trainable = memory.trainable;
    static constexpr auto const& size = memory.size;
    static constexpr auto const& devices = memory.devices;
    static constexpr std::ptrdiff_t weights = memory.weights;
    static constexpr std::ptrdiff_t sample_mask = memory.sample_mask;
    static constexpr std::ptrdiff_t present = memory.present;
    static constexpr auto const& given = memory.given;
    static constexpr std::ptrdiff_t staging = memory.staging;

    // Of a table. (For a reference that is made where it is used, nvcc keeps a copy of all of it.)
    static constexpr kernel_launch const& launch(int i) { return launches[i]; }
    static constexpr array_ref const& array(int i) { return arrays[i]; }
    static constexpr placed_parameter const& parameter(std::size_t i) { return parameters[i]; }

    constexpr std::ptrdiff_t elements(region r) const { return memory.elements(r); }

    // Whether a launch's second operand is kept in the form that its kernel wants.
    constexpr bool keeps_weight(kernel_launch const& s) const {
        return s.prepared >= 0 && arrays[s.prepared].where == region::prepared;
    }

    // Floating-point operations for one sample.
    constexpr std::ptrdiff_t flops() const {
        std::ptrdiff_t sum = 0;
        for (stage const& g : stages) {
            sum += launches[g.first].once ? 0 : g.repetitions * g.flops;
        }
        return sum;
    }
};

} // namespace castnet::ir
