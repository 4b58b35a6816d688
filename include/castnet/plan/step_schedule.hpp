// Schedule of a graph: its list of steps after fusion, their programs, and the arrays that every
// step reads and writes; not yet where they lie (plan/plan.hpp).
#pragma once

#include <castnet/graph/traced.hpp>
#include <castnet/plan/instruction.hpp>
#include <castnet/plan/step.hpp>

namespace castnet::ir {

// An operand or result of a step: the value of a node, or (node -1) scratch memory for the step.
struct array_use {
    int node = -1;
    std::ptrdiff_t scratch = 0; // elements
    bool narrow = false;        // bfloat16; of a parameter: the copy that products read
};

// All parameters, and the copy of them in bfloat16, as operand and result of a step.
inline constexpr int all_parameters = -2, narrow_parameters = -3;

struct step_schedule_sizes {
    int steps = 0, arrays = 0, scalars = 0, programs = 0, instructions = 0;
    int unused_parameter = -1, unused_input = -1; // -1: none; else the first

    // With those of the part behind.
    constexpr step_schedule_sizes then(step_schedule_sizes const& part) const {
        return {steps + part.steps, arrays + part.arrays,  scalars + part.scalars, part.programs,
                part.instructions,  part.unused_parameter, part.unused_input};
    }
    constexpr bool fit(step_schedule_sizes const& room) const {
        return steps <= room.steps && arrays <= room.arrays && scalars <= room.scalars &&
               programs <= room.programs && instructions <= room.instructions;
    }
};

// A graph is scheduled in parts of so many nodes, since compilers limit the steps of one constant.
inline constexpr int nodes_of_part = 1536;

constexpr int schedule_parts(int nodes) {
    return nodes <= nodes_of_part ? 1 : (nodes + nodes_of_part - 1) / nodes_of_part;
}

// Enough for a part of most graphs of so many nodes.
constexpr step_schedule_sizes usual_schedule(int of_graph) {
    int const nodes = of_graph < nodes_of_part ? of_graph : nodes_of_part;
    return {nodes / 2 + 16, 5 * nodes / 2 + 32, nodes / 3 + 16, 48, 256};
}

// Where a part begins: how much the parts before it hold, and the programs of all of them.
struct schedule_begin {
    int node = 0, arrays = 0, scalars = 0, programs = 0;
    instruction const* instructions = nullptr;
    int const* first_instruction = nullptr;
};

struct step_schedule_draft {
    list<step> steps;
    list<array_use> arrays;
    list<double> scalars;
    list<list<instruction>> programs;
    step_schedule_sizes sizes;
};

// A schedule as a constant of fixed size. Where Room is not enough, nothing but the sizes is kept.
template <step_schedule_sizes Room>
struct step_schedule {
    step_schedule_sizes sizes;
    step steps[castnet::ir::room(Room.steps)]{};
    array_use arrays[castnet::ir::room(Room.arrays)]{};
    double scalars[castnet::ir::room(Room.scalars)]{};
    instruction instructions[castnet::ir::room(Room.instructions)]{};
    int first_instruction[castnet::ir::room(Room.programs +
                                            1)]{}; // per program; one more for the end of the last

    constexpr explicit step_schedule(step_schedule_draft const& d) : sizes{d.sizes} {
        if (!sizes.fit(Room)) {
            return;
        }
        copy_list(steps, d.steps);
        copy_list(arrays, d.arrays);
        copy_list(scalars, d.scalars);
        int end = 0;
        for (int p = 0; p < sizes.programs; ++p) {
            first_instruction[p] = end;
            for (instruction const& i : d.programs[p]) {
                instructions[end++] = i;
            }
        }
        first_instruction[sizes.programs] = end;
    }

    // The parts of a schedule, one after another.
    template <class... Part>
    constexpr explicit step_schedule(step_schedule_sizes const& all, Part const&... parts)
        : sizes{all} {
        step_schedule_sizes end{};
        (..., append(parts, end));
    }

    // Room that is enough.
    constexpr step_schedule_sizes room() const { return sizes.fit(Room) ? Room : sizes; }

    // Where the part behind this one begins, which itself begins at `begin`.
    constexpr schedule_begin behind(schedule_begin const& begin) const {
        return {begin.node + nodes_of_part,
                begin.arrays + sizes.arrays,
                begin.scalars + sizes.scalars,
                sizes.programs,
                instructions,
                first_instruction};
    }

private:
    template <class Part>
    constexpr void append(Part const& part, step_schedule_sizes& end) {
        copy_array(steps + end.steps, part.steps, part.sizes.steps);
        copy_array(arrays + end.arrays, part.arrays, part.sizes.arrays);
        copy_array(scalars + end.scalars, part.scalars, part.sizes.scalars);
        end.steps += part.sizes.steps;
        end.arrays += part.sizes.arrays;
        end.scalars += part.sizes.scalars;
        if (part.sizes.programs == sizes.programs) { // the last has all of them
            copy_array(instructions, part.instructions, sizes.instructions);
            copy_array(first_instruction, part.first_instruction, sizes.programs + 1);
        }
    }
};

} // namespace castnet::ir
