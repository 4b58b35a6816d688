// A plan: everything that a step needs at run time, as a constant of fixed size.
#pragma once

#include <castnet/plan/draft.hpp>

namespace castnet {

struct plan_sizes {
    int steps = 0, arrays = 0, scalars = 0, windows = 0, programs = 0, instructions = 0;
    int parameters = 0, inputs = 0, targets = 0, outputs = 0;
    int unused_parameter = -1, unused_input = -1; // -1: none; see draft
};

constexpr plan_sizes sizes_of(draft const& d) {
    plan_sizes z;
    z.steps = d.steps.size();
    z.arrays = d.arrays.size();
    z.scalars = d.scalars.size();
    z.windows = d.windows.size();
    z.programs = d.programs.size();
    for (auto const& p : d.programs) {
        z.instructions += p.size();
    }
    z.parameters = d.parameters.size();
    z.inputs = d.inputs.size();
    z.targets = d.targets.size();
    z.outputs = d.outputs.size();
    z.unused_parameter = d.unused_parameter;
    z.unused_input = d.unused_input;
    return z;
}

template <plan_sizes Z>
struct plan {
    static constexpr plan_sizes sizes = Z;
    static constexpr int room(int count) { return count > 0 ? count : 1; } // no arrays of length 0

    step steps[room(Z.steps)]{};
    array_ref arrays[room(Z.arrays)]{};
    double scalars[room(Z.scalars)]{};
    window windows[room(Z.windows)]{};
    instruction instructions[room(Z.instructions)]{};
    int first_instruction[Z.programs + 1]{}; // per program; one more for the end of the last
    placed_parameter parameters[room(Z.parameters)]{};
    array_ref inputs[room(Z.inputs)]{};
    array_ref targets[room(Z.targets)]{};
    array_ref outputs[room(Z.outputs)]{};
    std::ptrdiff_t trainable = 0;
    std::ptrdiff_t size[4]{};
    std::ptrdiff_t weights = 0, presence = 0, present = 0;

    constexpr explicit plan(draft const& d)
        : trainable{d.trainable}, weights{d.weights}, presence{d.presence}, present{d.present} {
        fill(steps, d.steps);
        fill(arrays, d.arrays);
        fill(scalars, d.scalars);
        fill(windows, d.windows);
        fill(parameters, d.parameters);
        fill(inputs, d.inputs);
        fill(targets, d.targets);
        fill(outputs, d.outputs);
        int end = 0;
        for (int p = 0; p < d.programs.size(); ++p) {
            first_instruction[p] = end;
            for (instruction const& i : d.programs[p]) {
                instructions[end++] = i;
            }
        }
        first_instruction[Z.programs] = end;
        for (int r = 0; r < 4; ++r) {
            size[r] = d.size[r];
        }
    }

    constexpr std::ptrdiff_t elements(region r) const { return size[static_cast<int>(r)]; }

    // Floating-point operations for one sample.
    constexpr std::ptrdiff_t flops() const {
        std::ptrdiff_t sum = 0;
        for (step const& s : steps) {
            sum += s.flops;
        }
        return sum;
    }

private:
    template <class To, class T>
    static constexpr void fill(To& to, list<T> const& from) {
        for (int i = 0; i < from.size(); ++i) {
            to[i] = from[i];
        }
    }
};

} // namespace castnet
