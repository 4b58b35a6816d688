// A plan: everything that a step needs at run time, as a constant of fixed size.
#pragma once

#include <castnet/plan/fixed_buffers.hpp>
#include <castnet/plan/workspace_assignment.hpp>

namespace castnet::ir {

struct plan_sizes {
    int inputs = 0, targets = 0, given = 0;
    int steps = 0, arrays = 0, scalars = 0, windows = 0, programs = 0, instructions = 0;
    int parameters = 0, outputs = 0, stages = 0, devices = 1;
};

constexpr plan_sizes sizes_of(graph_view const& g, step_schedule_sizes const& s, int stages,
                              int devices = 1) {
    plan_sizes z{0,
                 0,
                 0,
                 s.steps,
                 s.arrays,
                 s.scalars,
                 g.window_count,
                 s.programs,
                 s.instructions,
                 g.parameter_count,
                 g.output_count,
                 stages,
                 devices};
    for (int i = 0; i < g.node_count; ++i) {
        z.inputs += g.nodes[i].kind == op::input;
        z.targets += g.nodes[i].kind == op::target;
        z.given += g.nodes[i].kind == op::scalar;
    }
    return z;
}

template <plan_sizes Z>
struct plan {
    static constexpr plan_sizes sizes = Z;

    step steps[room(Z.steps)]{};
    stage stages[room(Z.stages)]{};
    array_ref arrays[room(Z.arrays)]{};
    double scalars[room(Z.scalars)]{};
    window windows[room(Z.windows)]{};
    instruction instructions[room(Z.instructions)]{};
    int first_instruction[room(Z.programs + 1)]{}; // per program; one more for the end of the last
    placed_parameter parameters[room(Z.parameters)]{};
    array_ref inputs[room(Z.inputs)]{};
    array_ref targets[room(Z.targets)]{};
    array_ref outputs[room(Z.outputs)]{};
    int batch = 0;                // samples that it was made for
    std::ptrdiff_t trainable = 0; // elements of region::parameters that are trained
    std::ptrdiff_t size[4]{};     // elements of each region
    device_memory devices[room(Z.devices)]{};
    std::ptrdiff_t weights = 0, sample_mask = 0, present = 0; // offsets in region::batch
    std::ptrdiff_t given[room(Z.given)]{}; // the same of scalars that losses and metrics have
    std::ptrdiff_t staging = 0;            // one image in logical order, also in region::batch

    template <class Schedule, class Lifetimes, class Stages>
    constexpr plan(graph_view const& g, Schedule const& s, Lifetimes const& lives,
                   Stages const& found, int capacity, std::ptrdiff_t alignment,
                   int narrow_per_value)
        : batch{capacity} {
        copy_array(steps, s.steps, Z.steps);
        copy_array(stages, found.of, Z.stages);
        copy_array(scalars, s.scalars, Z.scalars);
        copy_array(windows, g.windows, Z.windows);
        copy_array(instructions, s.instructions, Z.instructions);
        copy_array(first_instruction, s.first_instruction, Z.programs + 1);
        buffer_assignment places{g, lives};
        fixed_buffers<plan> fixed{*this, g, places, alignment};
        fixed.run();
        workspace_assignment<plan> workspace{
            *this,       g,         s.arrays,        places, lives.last_copied,
            found.lanes, alignment, narrow_per_value};
        workspace.run();
        for (int i = 0; i < Z.outputs; ++i) {
            outputs[i] = places.ref(g.outputs[i]);
        }
    }

    constexpr std::ptrdiff_t elements(region r) const { return size[static_cast<int>(r)]; }
    constexpr std::ptrdiff_t& elements(region r) { return size[static_cast<int>(r)]; }

    // Floating-point operations for one sample.
    constexpr std::ptrdiff_t flops() const {
        std::ptrdiff_t sum = 0;
        for (step const& s : steps) {
            sum += s.flops;
        }
        return sum;
    }
};

} // namespace castnet::ir
