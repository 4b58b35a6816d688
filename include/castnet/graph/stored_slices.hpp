// Slices of a loop's values that others than the loop read, as products of slices with one: on a
// device that joins functions, the launch that reads such a slice stores it, too, and none copies
// it.
//
// So a GRU's step, whose backward pass reads one of the three projections of the state, is a
// product and a launch.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

#include <utility>

namespace castnet::ir {

// Appends the nodes anew; for graphs whose loops are in order.
class slice_storing {
public:
    constexpr slice_storing(graph& g, results& r)
        : g_{g}, results_{r}, nodes_{g.nodes.data()}, count_{g.nodes.size()},
          read_elsewhere_{list<char>::with_size(count_)} {
        for (int i = 0; i < count_; ++i) {
            for (int k = 0; k < nodes_[i].operands; ++k) {
                if (int const x = nodes_[i].in[k]; x >= 0 && nodes_[x].loop != nodes_[i].loop) {
                    read_elsewhere_[x] = 1;
                }
            }
        }
    }

    constexpr void run() {
        bool any = false;
        for (int i = 0; i < count_; ++i) {
            any = any || is_copied(i);
        }
        if (any) {
            append_anew();
        }
    }

private:
    constexpr bool is_copied(int id) const {
        node const& n = nodes_[id];
        if (n.kind != op::slice || n.loop < 0 || read_elsewhere_[id] == 0) {
            return false;
        }
        node const& whole = nodes_[n.in[0]];
        return whole.loop == n.loop && (whole.kind == op::map || traits_of(whole).product);
    }

    constexpr void append_anew() {
        list<node> const old = std::exchange(g_.nodes, {});
        nodes_ = old.data();
        g_.nodes.reserve(count_ + 8);
        int const one = constant_node(g_, 1);
        list<int> moved = list<int>::filled(count_, -1);
        for (int i = 0; i < count_; ++i) {
            node n = nodes_[i];
            for (int k = 0; k < n.operands; ++k) {
                n.in[k] = n.in[k] >= 0 ? moved[n.in[k]] : n.in[k];
            }
            int const id = g_.append(n);
            moved[i] = is_copied(i) ? product(n, id, one) : id;
        }
        renumber(g_, results_, moved);
    }

    // With one, which is the number itself.
    constexpr int product(node const& slice, int id, int one) {
        node n;
        n.kind = op::map;
        n.function = fn::multiply;
        n.size = slice.size;
        n.loop = slice.loop;
        n.repeat = slice.repeat;
        n.device = slice.device;
        n.operands = 2;
        n.in[0] = id;
        n.in[1] = one;
        return g_.append(n);
    }

    graph& g_;
    results& results_;
    node const* nodes_;
    int count_;
    list<char> read_elsewhere_; // per old node: whether others than its loop read it
};

constexpr void store_slices(graph& g, results& r) {
    if (g.loops > 0 && !r.gradients.empty()) {
        slice_storing{g, r}.run();
    }
}

} // namespace castnet::ir
