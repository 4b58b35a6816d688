// Parameters and inputs of a network that nothing reads.
#pragma once

#include <castnet/plan/fused_groups.hpp>

namespace castnet::ir {

// The number of the first parameter, among those of all repetitions, that is not read or, though it
// is trainable, has no gradient; -1: none. (Statistics may be for the program alone.)
constexpr int first_unused_parameter(graph_view const& g, group_view const& group) {
    int first = -1;
    for (int i = g.parameter_count - 1; i >= 0; --i) {
        parameter const& p = g.parameters[i];
        if ((group[p.node] < 0 && p.kind != role::statistic) ||
            (p.trainable && g.differentiated && g.gradients[i] < 0)) {
            first = i;
        }
    }
    int result = -1;
    if (first >= 0) {
        int number = 0;
        for_each_parameter(g, [&](int i, int repetition) {
            if (i == first && repetition == 0) {
                result = number;
            }
            ++number;
        });
    }
    return result;
}

// The number of an input that is not read although others are; -1: none. (A network of parameters
// alone reads no input.)
constexpr int unused_input(graph_view const& g, group_view const& group) {
    int result = -1;
    bool reads_inputs = false;
    for (int i = 0; i < g.node_count; ++i) {
        if (g.nodes[i].kind == op::input) {
            if (group[i] < 0) {
                result = g.nodes[i].attribute;
            } else {
                reads_inputs = true;
            }
        }
    }
    return reads_inputs ? result : -1;
}

} // namespace castnet::ir
