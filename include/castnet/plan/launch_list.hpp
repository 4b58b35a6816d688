// List of the kernel launches of a graph after fusion, their programs, and the arrays that every
// launch reads and writes; not yet where they lie (plan/plan.hpp).
#pragma once

#include <castnet/graph/traced.hpp>
#include <castnet/plan/instruction.hpp>
#include <castnet/plan/kernel_launch.hpp>

namespace castnet::ir {

// An operand or result of a launch: the value of a node, or (node -1) scratch memory for the
// launch.
struct array_use {
    int node = -1;
    std::ptrdiff_t scratch = 0; // elements; of all parameters: which part of them
    bool is_bf16 = false;       // bfloat16; of a parameter: the copy that products read
};

// All parameters, and the copy of them in bfloat16, as operand and result of a launch. On several
// devices, part 2 d are those of device d that are trained, and part 2 d + 1 its others.
inline constexpr int all_parameters = -2, bf16_parameters = -3;

struct launch_list_sizes {
    int launches = 0, arrays = 0, scalars = 0, programs = 0, instructions = 0;
    int unused_parameter = -1, unused_input = -1; // the first ones, in the first part; -1: none

    // With those of the next part.
    constexpr launch_list_sizes then(launch_list_sizes const& part) const {
        return {launches + part.launches,
                arrays + part.arrays,
                scalars + part.scalars,
                part.programs,
                part.instructions,
                unused_parameter < 0 ? part.unused_parameter : unused_parameter,
                unused_input < 0 ? part.unused_input : unused_input};
    }
    constexpr bool fit(launch_list_sizes const& capacity) const {
        return launches <= capacity.launches && arrays <= capacity.arrays &&
               scalars <= capacity.scalars && programs <= capacity.programs &&
               instructions <= capacity.instructions;
    }
    // Room that is enough.
    constexpr launch_list_sizes room(launch_list_sizes const& usual) const {
        return fit(usual) ? usual : *this;
    }
};

// A graph is listed in parts of so many nodes, since compilers limit the steps of one constant.
inline constexpr int nodes_of_part = counts_first ? 2048 : 896;

constexpr int launch_list_parts(int nodes) {
    return nodes <= nodes_of_part ? 1 : (nodes + nodes_of_part - 1) / nodes_of_part;
}

// Enough for a part of most graphs of so many nodes.
constexpr launch_list_sizes usual_launch_list(int of_graph) {
    if (counts_first) {
        return {};
    }
    int const nodes = of_graph < nodes_of_part ? of_graph : nodes_of_part;
    return {2 * nodes / 3 + 16, 3 * nodes + 32, nodes / 2 + 16, 48, 256};
}

// Where a part begins: how much the parts before it hold, and the programs of all of them.
struct launch_list_begin {
    int node = 0, arrays = 0, scalars = 0, programs = 0;
    instruction const* instructions = nullptr;
    int const* first_instruction = nullptr;
};

struct launch_list_draft {
    list<kernel_launch> launches;
    list<array_use> arrays;
    list<double> scalars;
    list<list<instruction>> programs;
    launch_list_sizes sizes;
};

// A list as a constant of fixed size. Where the capacity is not enough, nothing but the sizes is
// kept.
template <launch_list_sizes Capacity>
struct launch_list {
    launch_list_sizes sizes;
    kernel_launch launches[castnet::ir::array_size(Capacity.launches)]{};
    array_use arrays[castnet::ir::array_size(Capacity.arrays)]{};
    double scalars[castnet::ir::array_size(Capacity.scalars)]{};
    instruction instructions[castnet::ir::array_size(Capacity.instructions)]{};
    int first_instruction[castnet::ir::array_size(
        Capacity.programs + 1)]{}; // per program; one more for the end of the last

    constexpr explicit launch_list(launch_list_draft const& d) : sizes{d.sizes} {
        if (!sizes.fit(Capacity)) {
            return;
        }
        copy_list(launches, d.launches);
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

    // The parts of a list, one after another.
    template <class... Part>
    constexpr explicit launch_list(launch_list_sizes const& all, Part const&... parts)
        : sizes{all} {
        launch_list_sizes end{};
        (..., append(parts, end));
    }

    // Where the part after this one begins, which itself begins at `begin`.
    constexpr launch_list_begin after(launch_list_begin const& begin) const {
        return {begin.node + nodes_of_part,
                begin.arrays + sizes.arrays,
                begin.scalars + sizes.scalars,
                sizes.programs,
                instructions,
                first_instruction};
    }

private:
    template <class Part>
    constexpr void append(Part const& part, launch_list_sizes& end) {
        copy_array(launches + end.launches, part.launches, part.sizes.launches);
        copy_array(arrays + end.arrays, part.arrays, part.sizes.arrays);
        copy_array(scalars + end.scalars, part.scalars, part.sizes.scalars);
        end.launches += part.sizes.launches;
        end.arrays += part.sizes.arrays;
        end.scalars += part.sizes.scalars;
        if (part.sizes.programs == sizes.programs) { // the last has all of them
            copy_array(instructions, part.instructions, sizes.instructions);
            copy_array(first_instruction, part.first_instruction, sizes.programs + 1);
        }
    }
};

} // namespace castnet::ir
