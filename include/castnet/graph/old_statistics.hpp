// Copies of statistics for those who read them in a step that updates them. The next value takes
// the statistic's place as soon as it is computed; what a copy holds is there until the step ends.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

#include <utility>

namespace castnet::ir {

// Appends the nodes anew, if there are such readers: others than the next value itself, which reads
// the element that it replaces.
class old_statistics {
public:
    constexpr old_statistics(graph& g, results& r) : g_{g}, results_{r} {}

    constexpr void run() {
        if (!g_.updates.empty() && find()) {
            append_anew();
        }
    }

private:
    constexpr bool find() {
        list<int> values = list<int>::filled(g_.parameters.size(), -1); // the next of each
        for (graph::update const& u : g_.updates) {
            g_.expect(values[u.parameter] < 0, mistake::updated_twice);
            values[u.parameter] = u.value;
        }
        read_ = list<char>::filled(g_.parameters.size(), 0);
        int const* const next = values.data();
        node const* const nodes = g_.nodes.data();
        bool found = false;
        for (int i = 0, end = g_.nodes.size(); i < end; ++i) {
            for (int k = 0; k < nodes[i].operands; ++k) {
                if (int const from = nodes[i].in[k];
                    from >= 0 && nodes[from].kind == op::parameter) {
                    int const value = next[nodes[from].attribute];
                    if (value >= 0 && value != i) {
                        read_[nodes[from].attribute] = 1;
                        found = true;
                    }
                }
            }
        }
        return found;
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
            if (n.kind == op::parameter && read_[n.attribute]) {
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
    list<char> read_; // per parameter
};

} // namespace castnet::ir
