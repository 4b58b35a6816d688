// Fusion: chains of element-wise functions become one program each, ended by a store or by a
// reduction.
//
// A node joins the group of its consumers if they all belong to one group that runs over the same
// index space; so no group can wait for itself, and one pass from the last node to the first does.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

namespace castnet::ir {

// Fate of the node that ends a group.
enum class group_end : std::uint8_t {
    launched, // by a launch of its own
    joined,   // it is a result of another launch, whose group it belongs to now (plan/join.hpp)
    computed_again // by every launch that reads it; it is not stored
};

// The groups as the planner sees them.
struct group_view {
    int const* of;                  // per node: the end of its group, -1 for none
    group_end const* end = nullptr; // per node, where the device joins launches
    bool joins = false; // g++ 12 compares no pointer to a constant with nullptr under sanitizers

    constexpr int operator[](int id) const { return of[id]; }
    constexpr bool has(int id, group_end what) const { return joins && end[id] == what; }
    // By a launch of this node's own, if it has a kernel.
    constexpr bool is_launched(int id) const {
        return of[id] == id && !has(id, group_end::computed_again);
    }
    constexpr bool is_joined(int id) const { return has(id, group_end::joined); }
};

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

// Per node: 1 where repetitions of a block leave it to the next ones, or the first gets it.
constexpr list<char> carried_nodes(node const* nodes, int count, int repeats) {
    list<char> carried = list<char>::with_size(count);
    for (int i = 0; i < count && repeats > 0; ++i) {
        if (nodes[i].kind == op::carry) {
            carried[nodes[i].in[0]] = 1;
        } else if (nodes[i].kind == op::repeated) {
            carried[nodes[i].in[1]] = 1;
        }
    }
    return carried;
}

// Whether what a repeated block makes is read outside of it; or, as gradients of parameters are,
// kept. `reader`: per node, fuse()'s of the nodes after the block.
constexpr bool is_read(node const& repeated, int const* reader) {
    for (int k = repeated.in[0]; k <= repeated.in[1]; ++k) {
        if (reader[k] != -1) {
            return true;
        }
    }
    return false;
}

// Per node: the node that ends its group, which is the node itself where it is stored; -1 where
// nothing that leaves the step depends on it.
constexpr list<int> fuse(graph_view const& g) {
    constexpr int nobody = -1, several = -2;
    int const count = g.node_count;
    node const* const nodes = g.nodes;
    list<int> groups = list<int>::filled(count, -1);
    list<int> consumers = list<int>::filled(count, nobody); // the one group that reads a node
    list<int> inputs = list<int>::with_size(count);         // per group
    list<int> members = list<int>::with_size(count);        // per group
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
        bool const read_next = // in the next step or repetition
            n.kind == op::feedback || (n.kind == op::repeated && is_read(n, reader));
        int const goal = read_next ? several : reader[i];
        if (goal == nobody) {
            continue;
        }
        int mine = i;
        if (n.kind == op::map && goal >= 0 && in[goal] + n.operands - 1 <= max_group_inputs &&
            size[goal] < max_group_size) {
            node const& end = nodes[goal];
            if (n.size == (end.kind == op::reduce ? nodes[end.in[0]].size : end.size) &&
                n.repeat == end.repeat) {
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
