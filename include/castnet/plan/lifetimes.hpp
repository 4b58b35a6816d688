// Lifetimes of a graph's values: whose memory each of them shows, and the last launch that reads
// it.
#pragma once

#include <castnet/plan/launch_list_builder.hpp>

namespace castnet::ir {

// A constant of its own: the compilers' limits hold for one constant.
template <int Nodes>
struct value_lifetimes {
    int base[array_size(
        Nodes)]{}; // per node: the node whose memory it shows; itself, but for views
    int last[array_size(
        Nodes)]{};       // per node: the last launch that reads it; -1 for none, or for views
    int last_copied = 0; // the last launch that reads the parameters' copy in bfloat16

    template <class LaunchList>
    constexpr value_lifetimes(graph_view const& g, LaunchList const& s, int devices) {
        node const* const nodes = g.nodes;
        for (int i = 0; i < Nodes; ++i) {
            base[i] = is_view(nodes[i], nodes) ? base[nodes[i].in[0]] : i;
            last[i] = -1;
        }
        int const end = s.sizes.launches;
        for (int i = 0; i < end; ++i) {
            kernel_launch const& now = s.launches[i];
            for (array_use const* use = s.arrays + now.first_array;
                 use < s.arrays + now.output + now.results; ++use) {
                if (use->node < 0) {
                    last_copied = i;
                } else {
                    last[base[use->node]] = i;
                    if (use->is_bf16 && nodes[use->node].kind == op::parameter) {
                        last_copied = i;
                    }
                }
            }
        }
        for (int i = 0; devices > 1 && i < end; ++i) { // what is copied stays: devices do not wait
            if (s.launches[i].kind == op::copy) {
                last[base[s.arrays[s.launches[i].first_array].node]] = end;
            }
        }
        list<int> const kept = kept_nodes(g);
        for (int const id : kept) {
            last[base[id]] = end;
        }
    }
};

} // namespace castnet::ir
