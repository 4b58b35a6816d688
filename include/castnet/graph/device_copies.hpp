// Copies between the devices of a graph: what a node reads from another device comes to its own.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

#include <utility>

namespace castnet::ir {

// Appends the nodes anew, with copies of what another device reads, one for each: of parameters,
// whose home is where they were first asked for, before everything else; of an activation or a
// gradient before its first reader. Gradients and running statistics end at home.
class copies_between_devices {
public:
    constexpr copies_between_devices(graph& g, results& r)
        : g_{g}, results_{r}, old_{std::move(g.nodes)}, moved_{list<int>::filled(old_.size(), -1)},
          copies_{list<int>::filled(old_.size() * g.devices, -1)} {}

    constexpr void run() {
        for (graph::update const& u : g_.updates) {
            old_[u.value].device = home_of(g_.parameters[u.parameter]);
        }
        move_parameters();
        for (int i = 0; i < old_.size(); ++i) {
            node n = old_[i];
            if (n.kind == op::parameter) {
                continue;
            }
            if (n.repeat >= 0 && (i == 0 || old_[i - 1].repeat != n.repeat)) {
                copy_for_block(i);
            }
            for (int k = 0; k < n.operands; ++k) {
                if (n.in[k] >= 0) {
                    n.in[k] = on(n.device, n.in[k]);
                }
            }
            moved_[i] = g_.append(n);
        }
        for (int i = 0; i < results_.gradients.size(); ++i) {
            if (int& gradient = results_.gradients[i]; gradient >= 0) {
                gradient = on(home_of(g_.parameters[i]), gradient);
            }
        }
        for (int& output : results_.outputs) {
            output = moved_[output];
        }
        for (graph::update& u : g_.updates) {
            u.value = moved_[u.value];
        }
        for (parameter& p : g_.parameters) {
            p.node = moved_[p.node];
        }
    }

private:
    constexpr void move_parameters() {
        for (parameter const& p : g_.parameters) {
            moved_[p.node] = g_.append(old_[p.node]);
        }
        for (node const& n : old_) {
            for (int k = 0; k < n.operands; ++k) {
                if (n.in[k] >= 0 && old_[n.in[k]].kind == op::parameter) {
                    on(n.device, n.in[k]);
                }
            }
        }
    }

    // Copies all operands of the repeated block that begins with this node, before it.
    constexpr void copy_for_block(int first) {
        for (int i = first; i < old_.size() && old_[i].repeat == old_[first].repeat; ++i) {
            for (int k = 0; k < old_[i].operands; ++k) {
                if (old_[i].in[k] >= 0 && old_[i].in[k] < first) {
                    on(old_[i].device, old_[i].in[k]);
                }
            }
        }
    }

    constexpr int home_of(parameter const& p) const { return old_[p.node].device; }

    // The new node that has the value of an old one on this device.
    constexpr int on(int device, int id) {
        node const& from = old_[id];
        if (from.device == device || traits_of(from).everywhere) {
            return moved_[id];
        }
        int& copy = copies_[id * g_.devices + device];
        if (copy < 0) {
            node n;
            n.kind = op::copy;
            n.operands = 1;
            n.in[0] = moved_[id];
            n.size = from.size;
            n.device = device;
            copy = g_.append(n);
        }
        return copy;
    }
    graph& g_;
    results& results_;
    list<node> old_;
    list<int> moved_;  // per old node: the new one
    list<int> copies_; // per old node and device: its copy there, or -1
};

// Makes a graph one for a policy with so many devices. One that has a single device computes
// everything there.
constexpr void place_on_devices(graph& g, results& r, int devices) {
    if (g.devices > 1 && g.devices <= devices) {
        copies_between_devices copies{g, r};
        copies.run();
    } else if (g.devices > 1) {
        for (node& n : g.nodes) {
            n.device = 0;
        }
    }
}

} // namespace castnet::ir
