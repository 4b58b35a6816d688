// Recomputation of a loop's values: those that its backward pass can compute again, by a few
// functions of others that it reads anyway, are not kept for all steps. So an LSTM keeps its gates
// and carries, but not tanh of its cell.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

#include <utility>

namespace castnet::ir {

// Appends the nodes anew, with those that are computed again before their first reader in the
// backward pass; for graphs whose loops are in order.
class recomputation {
public:
    constexpr recomputation(graph& g, results& r)
        : g_{g}, results_{r}, old_{std::exchange(g.nodes, {})}, nodes_{old_.data()},
          moved_{list<int>::filled(old_.size(), -1)}, again_{moved_},
          read_back_{list<char>::filled(old_.size(), 0)}, kept_{read_back_}, left_out_{kept_} {}

    constexpr void run() {
        find_readers();
        for (int i = 0; i < old_.size(); ++i) { // what it is computed of is decided before
            left_out_[i] =
                read_back_[i] != 0 && kept_[i] == 0 && functions_of(i) <= most_functions ? 1 : 0;
        }
        g_.nodes.reserve(old_.size() + 32);
        for (int i = 0; i < old_.size(); ++i) {
            node n = nodes_[i];
            for (int k = 0; k < n.operands; ++k) {
                if (int const from = n.in[k]; from >= 0) {
                    n.in[k] = left_out_[from] != 0 && is_back(i, from) ? computed_again(from, n)
                                                                       : moved_[from];
                }
            }
            moved_[i] = g_.append(n);
        }
        renumber(g_, results_, moved_);
    }

private:
    static constexpr int most_functions = 4;

    // Whether a node is of the loop that runs back through that of the other one.
    constexpr bool is_back(int id, int from) const {
        return nodes_[from].loop >= 0 && nodes_[id].loop == nodes_[from].loop + g_.loops;
    }

    constexpr void find_readers() {
        for (int const id : results_.outputs) {
            kept_[id] = 1;
        }
        for (graph::update const& u : g_.updates) {
            kept_[u.value] = 1;
        }
        for (int i = 0; i < old_.size(); ++i) {
            node const& n = nodes_[i];
            for (int k = 0; k < n.operands; ++k) {
                int const from = n.in[k];
                if (from >= 0 && is_back(i, from)) {
                    read_back_[from] = 1;
                } else if (from >= 0 && n.loop != nodes_[from].loop) {
                    kept_[from] = 1;
                }
            }
        }
    }

    // How many functions compute a loop's value anew, of values that the loop back reads and that
    // are there; more than `most` if it takes more, or other operations.
    constexpr int functions_of(int id, int most = most_functions) const {
        node const& n = nodes_[id];
        if (n.kind != op::map || n.derivative >= 0 || n.function == fn::normalize || most == 0) {
            return most + 1;
        }
        int count = 1;
        for (int k = 0; k < n.operands && count <= most; ++k) {
            if (!is_there(n.in[k], n.loop)) {
                count +=
                    nodes_[n.in[k]].loop == n.loop ? functions_of(n.in[k], most - count) : most;
            }
        }
        return count;
    }
    constexpr bool is_there(int id, int loop) const {
        node const& n = nodes_[id];
        return n.kind == op::constant || n.kind == op::parameter ||
               (n.loop == loop && read_back_[id] != 0 && left_out_[id] == 0);
    }

    // For this node of the loop back.
    constexpr int computed_again(int id, node const& reader) {
        if (again_[id] < 0) {
            node n = nodes_[id];
            n.loop = reader.loop;
            n.repeat = reader.repeat;
            for (int k = 0; k < n.operands; ++k) {
                n.in[k] = is_there(n.in[k], nodes_[id].loop) ? moved_[n.in[k]]
                                                             : computed_again(n.in[k], reader);
            }
            again_[id] = g_.append(n);
        }
        return again_[id];
    }

    graph& g_;
    results& results_;
    list<node> old_;
    node const* nodes_;
    list<int> moved_;      // per old node: the new one
    list<int> again_;      // per old node: the new one that computes it again
    list<char> read_back_; // per old node: whether the loop back reads it
    list<char> kept_;      // per old node: whether it is there for other readers anyway
    list<char> left_out_;  // per old node: whether it is computed again
};

constexpr void compute_again_in_loops(graph& g, results& r) {
    if (g.loops > 0 && !r.gradients.empty()) {
        recomputation{g, r}.run();
    }
}

} // namespace castnet::ir
