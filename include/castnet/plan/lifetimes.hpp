// Lifetimes of a graph's values: whose memory each of them shows, and the last launch that reads
// it.
#pragma once

#include <castnet/plan/launch_list_builder.hpp>

namespace castnet::ir {

// Lifetimes as the planner sees them.
struct lifetimes_view {
    int const* base;     // per node: the node whose memory it shows; itself, but for views
    int const* last;     // per node: the last launch that reads it; -1 for none, or for views
    int const* repeat;   // per node: the repeated block in which it is computed or, for the first
                         // value of a carry, carried; -1 for none
    bool const* saved;   // per node: whether it is there for each repetition of that block, for the
                         // one that goes back
    bool const* is_next; // per node: whether it shows what a carry is in the next repetition
    int last_copied;     // the last launch that reads the parameters' copy in bfloat16
};

// A constant of its own: the compilers' limits hold for one constant. Its tables are those of
// lifetimes_view.
template <int Nodes>
struct value_lifetimes {
    int base[array_size(Nodes)]{};
    int last[array_size(Nodes)]{};
    int repeat[array_size(Nodes)]{};
    bool saved[array_size(Nodes)]{};
    bool is_next[array_size(Nodes)]{};
    int last_copied = 0;

    template <class LaunchList>
    constexpr value_lifetimes(graph_view const& g, LaunchList const& s, int devices) {
        node const* const nodes = g.nodes;
        find_bases(g);
        list<int> ends = list<int>::filled(2 * g.repeat_count, -1); // of blocks: the last launch
        for (int i = 0; i < s.sizes.launches && !ends.empty(); ++i) {
            if (int const block = s.launches[i].repeat; block >= 0) {
                ends[block] = i;
            }
        }
        int const end = s.sizes.launches;
        for (int i = 0; i < end; ++i) {
            kernel_launch const& now = s.launches[i];
            for (array_use const* use = s.arrays + now.first_array;
                 use < s.arrays + now.output + now.results; ++use) {
                if (use->node < 0) {
                    last_copied = i;
                } else {
                    int const id = base[use->node];
                    int until = i;
                    if (now.repeat >= 0 && nodes[id].repeat != now.repeat) {
                        until = ends[now.repeat]; // there for all repetitions
                        bool const back = now.repeat == repeat[id] + g.repeat_count;
                        saved[id] = saved[id] || (repeat[id] >= 0 && back);
                    }
                    last[id] = last[id] < until ? until : last[id];
                    if (use->is_bf16 && nodes[id].kind == op::parameter) {
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

    constexpr lifetimes_view view() const {
        return {base, last, repeat, saved, is_next, last_copied};
    }

private:
    constexpr void find_bases(graph_view const& g) {
        node const* const nodes = g.nodes;
        for (int i = 0; i < Nodes && g.repeat_count > 0; ++i) {
            if (nodes[i].kind == op::repeated) {
                base[nodes[i].in[1]] = nodes[i].in[0];
                is_next[nodes[i].in[1]] = true;
            }
        }
        for (int i = 0; i < Nodes; ++i) {
            last[i] = -1;
            repeat[i] = nodes[i].repeat;
            if (is_view(nodes[i], nodes)) {
                int const from = viewed(nodes[i]);
                base[i] = base[from];
                is_next[i] = is_next[from];
                if (nodes[i].kind == op::carry) {
                    repeat[base[i]] = nodes[i].repeat;
                }
            } else {
                base[i] = is_next[i] ? base[base[i]] : i; // of the carry
            }
        }
    }
};

} // namespace castnet::ir
