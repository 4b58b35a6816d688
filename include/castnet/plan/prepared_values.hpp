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

// Per node: 1 for parameters and what is computed of them, and of constants, alone, with what is
// computed of constants for that. (In a repeated block a node has such a value for each repetition;
// what one repetition passes to the next is none.)
constexpr list<char> prepared_values(graph_view const& g) {
    constexpr char none = 0, of_parameters = 1, of_constants = 2;
    list<char> prepared = list<char>::with_size(g.node_count);
    char* const is = prepared.data();
    for (int i = 0; i < g.node_count; ++i) {
        node const& n = g.nodes[i];
        if (n.size.sample || n.loop >= 0 || n.kind == op::carry || n.kind == op::repeated) {
            continue;
        }
        bool const source = n.kind == op::constant || n.kind == op::index;
        bool any = n.kind == op::parameter, all = any || source || n.operands > 0;
        for (int k = 0; k < n.operands; ++k) {
            if (int const from = n.in[k]; from >= 0) {
                all = all && is[from] != none;
                any = any || is[from] == of_parameters;
            }
        }
        is[i] = !all ? none : any ? of_parameters : of_constants;
    }
    for (int i = g.node_count - 1; i >= 0; --i) { // the readers of a node come before it
        node const& n = g.nodes[i];
        for (int k = 0; is[i] == of_parameters && k < n.operands; ++k) {
            if (int const from = n.in[k]; from >= 0 && g.nodes[from].operands > 0) {
                is[from] = of_parameters;
            }
        }
        is[i] = is[i] == of_parameters ? 1 : 0;
    }
    return prepared;
}

} // namespace castnet::ir
