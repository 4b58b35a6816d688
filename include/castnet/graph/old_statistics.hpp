// Copies of statistics for those who read them in a step that updates them. The next value takes
// the statistic's place as soon as it is computed; what a copy holds is there until the step ends.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

#include <utility>

namespace castnet::ir {

// Appends the nodes anew, if there are such statistics.
class old_statistics {
public:
    constexpr old_statistics(graph& g, results& r) : g_{g}, results_{r} {}

    constexpr void run() {
        bool any = false;
        for (graph::update const& u : g_.updates) {
            any = any || !u.alone;
        }
        if (any) {
            find();
            append_anew();
        }
    }

private:
    constexpr void find() {
        copied_ = list<char>::with_size(g_.parameters.size());
        for (graph::update const& u : g_.updates) {
            g_.expect(!copied_[u.parameter], mistake::updated_twice);
            copied_[u.parameter] = u.alone ? 0 : 1;
        }
    }

    // Each copy right after its statistic, in the same repeated block and on the same device.
    constexpr void append_anew() {
        list<node> const old = std::exchange(g_.nodes, {});
        g_.nodes.reserve(old.size() + 16);
        list<int> moved = list<int>::filled(old.size(), -1), seen = moved;
        for (int i = 0; i < old.size(); ++i) {
            node n = old[i];
            for (int k = 0; k < n.operands; ++k) {
                n.in[k] = n.in[k] < 0 ? n.in[k] : seen[n.in[k]];
            }
            moved[i] = seen[i] = g_.append(n);
            if (n.kind == op::parameter && copied_[n.attribute]) {
                n.kind = op::parameter_slice; // all of it
                n.attribute = 0;
                n.in[n.operands++] = moved[i];
                seen[i] = g_.append(n);
            }
        }
        for (parameter& p : g_.parameters) {
            p.node = moved[p.node];
        }
        for_each_result(g_, results_, [&seen](int& id) { id = seen[id]; });
    }

    graph& g_;
    results& results_;
    list<char> copied_; // per parameter
};

} // namespace castnet::ir
