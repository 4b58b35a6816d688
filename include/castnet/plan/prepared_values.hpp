// Values that depend on nothing but parameters. A plan in which parameters stay as they are keeps
// them in region::prepared, together with weights as kernels want them, and a device computes all
// of that only when parameters have changed.
#pragma once

#include <castnet/graph/traced.hpp>

namespace castnet::ir {

// Such a device says so:
//   static constexpr bool prepares = true;
template <class Device>
concept PreparingDevice = requires { requires Device::prepares; };

// Per node: 1 for parameters and what is computed of them, and of constants, alone. (In a repeated
// block a node has such a value for each repetition; what one repetition passes to the next is
// none.)
constexpr list<char> prepared_values(graph_view const& g) {
    list<char> prepared = list<char>::filled(g.node_count, 0);
    char* const is = prepared.data();
    for (int i = 0; i < g.node_count; ++i) {
        node const& n = g.nodes[i];
        if (n.size.sample || n.loop >= 0 || n.kind == op::carry || n.kind == op::repeated) {
            continue;
        }
        is[i] = n.kind == op::parameter ? 1 : 0;
        bool all = true;
        for (int k = 0; k < n.operands; ++k) {
            int const from = n.in[k];
            if (from < 0 || g.nodes[from].kind == op::constant) {
                continue;
            }
            all = all && is[from] != 0;
            is[i] = 1;
        }
        is[i] = is[i] != 0 && all ? 1 : 0;
    }
    return prepared;
}

} // namespace castnet::ir
