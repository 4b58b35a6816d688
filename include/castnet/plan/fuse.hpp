// Fusion: chains of element-wise functions become one program each, ended by a store or by a
// reduction.
//
// A node joins the group of its consumers if they all belong to one group that runs over the same
// index space; so no group can wait for itself, and one pass from the last node to the first does.
#pragma once

#include <castnet/graph/graph.hpp>

#include <castnet/core/list.hpp>

namespace castnet {

inline constexpr int max_group_inputs = 20; // arrays and constants that one kernel may read
inline constexpr int max_group_size = 40;   // functions in one kernel

constexpr bool computed_in_place(op kind) { // by whichever kernel reads it
    return kind == op::constant || kind == op::index || kind == op::presence ||
           kind == op::bernoulli;
}

constexpr bool is_source(op kind) {
    return kind <= op::bernoulli;
}

struct fusion {
    list<int> group;   // per node: the node that ends its group; itself where it is stored
    list<char> needed; // per node: something that leaves the step depends on it
};

// `kept`: nodes whose values leave the step (losses, predictions, gradients, running statistics).
constexpr fusion fuse(graph const& g, list<int> const& kept) {
    int const count = g.nodes.size();
    fusion f{list<int>::filled(count, -1), list<char>::filled(count, 0)};
    list<int> goal = list<int>::filled(count, -1);   // the group of all consumers so far; -2 if there are several
    list<int> inputs = list<int>::filled(count, 0);  // per group
    list<int> members = list<int>::filled(count, 0); // per group
    for (int id : kept) {
        goal[id] = -2;
        f.needed[id] = 1;
    }
    node const* nodes = g.nodes.data();
    for (int i = count - 1; i >= 0; --i) {
        node const& n = nodes[i];
        if (f.needed[i] == 0) {
            continue;
        }
        int group = i;
        if (n.kind == op::map && goal[i] >= 0) {
            int const t = goal[i];
            node const& end = nodes[t];
            extents const space =
                end.kind == op::reduce ? nodes[end.in[0]].size : end.size;
            if (n.size == space && inputs[t] + n.operands - 1 <= max_group_inputs &&
                members[t] < max_group_size) {
                group = goal[i];
            }
        }
        f.group[i] = group;
        int const t = group;
        inputs[t] += group == i ? n.operands : n.operands - 1;
        members[t] += 1;
        bool const fusing = n.kind == op::map || n.kind == op::reduce;
        for (int k = 0; k < n.operands; ++k) {
            if (n.in[k] >= 0) {
                int const from = n.in[k];
                f.needed[from] = 1;
                int const wanted_by = fusing ? group : -2;
                goal[from] = goal[from] == -1 || goal[from] == wanted_by ? wanted_by : -2;
            }
        }
    }
    return f;
}

} // namespace castnet
