// Fusion: chains of element-wise functions become one program each, ended by a store or by a
// reduction.
//
// A node joins the group of its consumers if they all belong to one group that runs over the same
// index space; so no group can wait for itself, and one pass from the last node to the first does.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

namespace castnet::ir {

inline constexpr int max_group_inputs = 20; // arrays and constants that one kernel may read
inline constexpr int max_group_size = 40;   // functions in one kernel

// Nodes whose values leave the step.
constexpr list<int> kept_nodes(graph_view const& g) {
    list<int> kept;
    kept.append(g.outputs, g.output_count);
    for (int i = 0; i < g.parameter_count; ++i) {
        if (g.gradients[i] >= 0) {
            kept.push(g.gradients[i]);
        }
    }
    for (int i = 0; i < g.update_count; ++i) {
        kept.push(g.updates[i].value);
    }
    return kept;
}

// Per node: the node that ends its group, which is the node itself where it is stored; -1 where
// nothing that leaves the step depends on it.
constexpr list<int> fuse(graph_view const& g) {
    constexpr int nobody = -1, several = -2;
    int const count = g.node_count;
    node const* const nodes = g.nodes;
    list<int> groups = list<int>::filled(count, -1);
    list<int> consumers = list<int>::filled(count, nobody); // the one group that reads a node
    list<int> inputs = list<int>::filled(count, 0);         // per group
    list<int> members = list<int>::filled(count, 0);        // per group
    int* const group = groups.data();
    int* const reader = consumers.data();
    int* const in = inputs.data();
    int* const size = members.data();
    list<int> const kept = kept_nodes(g);
    for (int id : kept) {
        reader[id] = several;
    }
    for (int i = count - 1; i >= 0; --i) {
        node const& n = nodes[i];
        int const goal = n.kind == op::feedback ? several : reader[i]; // read in the next step
        if (goal == nobody) {
            continue;
        }
        int mine = i;
        if (n.kind == op::map && goal >= 0 && in[goal] + n.operands - 1 <= max_group_inputs &&
            size[goal] < max_group_size) {
            node const& end = nodes[goal];
            if (n.size == (end.kind == op::reduce ? nodes[end.in[0]].size : end.size)) {
                mine = goal;
            }
        }
        group[i] = mine;
        in[mine] += mine == i ? n.operands : n.operands - 1;
        size[mine] += 1;
        int const now = n.kind == op::map || n.kind == op::reduce ? mine : several;
        for (int k = 0; k < n.operands; ++k) {
            if (int const from = n.in[k]; from >= 0) {
                reader[from] = reader[from] == nobody || reader[from] == now ? now : several;
            }
        }
    }
    return groups;
}

} // namespace castnet::ir
