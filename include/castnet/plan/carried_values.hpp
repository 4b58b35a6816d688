// Values carried from one time step to the next, placed where the next one finds them.
#pragma once

#include <castnet/plan/buffer_assignment.hpp>

namespace castnet::ir {

// A device whose plans may write into region::batch and find it again in the next run says so:
//   static constexpr bool keeps_batch = true;
template <class Device>
concept BatchKeepingDevice = requires { requires Device::keeps_batch; };

// Whether a launch that writes element by element reads this input, if at all, at the same places.
constexpr bool may_overwrite(kernel_launch const& s, int input, node const* nodes,
                             array_use const* uses, lifetimes_view const& lives) {
    bool right = true;
    for (int k = s.first_array; k < s.output; ++k) {
        int const id = uses[k].node;
        right = right && (lives.base[id] != input || nodes[id].size == nodes[input].size);
    }
    return right;
}

// The last inputs are carries, and the last outputs their next values (graph/one_step.hpp). An
// element-wise program may overwrite what nobody reads after it; other values are copied by who
// runs the plan.
template <class Plan>
constexpr void place_carried(Plan const& p, graph_view const& g, array_use const* uses,
                             lifetimes_view const& lives, buffer_assignment& buffers) {
    node const* const nodes = g.nodes;
    int carry = g.carry_count - Plan::sizes.inputs;
    for (int i = 0; i < g.node_count && g.carry_count > 0; ++i) {
        if (nodes[i].kind != op::input || carry++ < 0) {
            continue;
        }
        int const next = lives.base[g.outputs[g.output_count - g.carry_count + carry - 1]];
        for (int k = lives.last[i] < 0 ? 0 : lives.last[i]; k < Plan::sizes.launches; ++k) {
            kernel_launch const& s = p.launches[k];
            if (uses[s.output].node == next && s.kind == op::map && nodes[next].kind == op::map &&
                nodes[next].size == nodes[i].size && !s.once && !buffers[next].fixed &&
                may_overwrite(s, i, nodes, uses, lives)) {
                buffers.fix(next, region::batch, buffers[i].offset);
            }
        }
    }
}

} // namespace castnet::ir
