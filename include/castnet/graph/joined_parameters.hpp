// Parameters of shared layers that are frozen in one place and trained in another. They have
// several nodes, of which one has the gradient; after differentiation the first is all of them.
#pragma once

#include <castnet/graph/traced.hpp>

namespace castnet::ir {

constexpr void join_parameters(graph& g, results& r) {
    int nodes = 0;
    for (node const& n : g.nodes) {
        nodes += n.kind == op::parameter ? 1 : 0;
    }
    if (nodes == g.parameters.size()) {
        return;
    }
    list<int> first = list<int>::filled(g.parameters.size(), -1), same;
    for (int i = 0; i < g.nodes.size(); ++i) {
        node& n = g.nodes[i];
        for (int k = 0; k < n.operands; ++k) {
            n.in[k] = n.in[k] < 0 ? n.in[k] : same[n.in[k]];
        }
        same.push(i);
        if (n.kind != op::parameter) {
            continue;
        }
        if (int& known = first[n.attribute]; known < 0) {
            known = i;
        } else {
            same[i] = known;
            n = graph::shaped<shape<>>(op::constant, false); // which nobody reads
        }
    }
    for_each_result(g, r, [&same](int& id) { id = same[id]; });
    for (parameter& p : g.parameters) {
        p.node = same[p.node];
    }
}

} // namespace castnet::ir
