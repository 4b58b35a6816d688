// Recomputation of values for the backward pass: those that a few functions make of others that it
// reads anyway are computed again there instead of kept. So a network keeps what batch
// normalisation reads but not its results, and an LSTM its gates and carries but not tanh of its
// cell.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

namespace castnet::ir {

// A device that recomputes values outside of loops over time, too, says so:
//   static constexpr bool recomputes = true;
template <class Device>
concept RecomputingDevice = requires { requires Device::recomputes; };

// Appends the nodes of the backward pass anew, each value that is computed again before its first
// reader there; for graphs whose loops are in order.
class recomputation {
public:
    // Of values in loops over time or of all values.
    constexpr recomputation(graph& g, results& r, bool everywhere)
        : g_{g}, results_{r}, everywhere_{everywhere}, nodes_{g.nodes.data()},
          forward_{nodes_before_backward(g)}, marks_{list<int>::with_size(forward_)},
          mark_{marks_.data()} {}

    constexpr void run() {
        find_readers();
        bool any = false;
        for (int i = 0; i < forward_; ++i) { // what it is computed of is decided before
            if (mark_[i] == read_back && functions_of(i) <= most_functions) {
                mark_[i] = left_out;
                any = true;
            }
        }
        if (any) {
            append_backward();
        }
    }

private:
    static constexpr int most_functions = 4;
    // Bits. (Compilers count statements: there are few for nodes that stay as they are.)
    static constexpr int read_back = 1; // the backward pass reads it where it could compute it
    static constexpr int kept = 2;      // it is there for other readers anyway
    static constexpr int left_out = 4;  // it is computed again

    // Or before those of the first loop back, where a recipe differentiates by itself.
    static constexpr int nodes_before_backward(graph const& g) {
        node const* const nodes = g.nodes.data();
        int const end = g.nodes.size();
        int count = 0;
        while (count < end && !nodes[count].backward && nodes[count].loop < g.loops) {
            ++count;
        }
        return count;
    }

    constexpr void find_readers() {
        for_each_result(g_, results_, [this](int id) {
            if (id < forward_) {
                mark_[id] = kept;
            }
        });
        int const end = g_.nodes.size();
        bool const blocks = g_.loops > 0 || !g_.repeats.empty();
        for (int i = blocks ? 0 : forward_; i < end; ++i) {
            node const& n = nodes_[i];
            for (int k = 0; k < n.operands; ++k) {
                if (int const from = n.in[k]; from >= 0 && from < forward_) {
                    mark_[from] |= !blocks && n.backward      ? read_back
                                   : is_back(n, nodes_[from]) ? read_back
                                   : keeps(n, nodes_[from])   ? kept
                                                              : 0;
                }
            }
        }
    }
    // Whether a reader belongs to the backward pass, and there to the loop and the repeated block
    // that run back through those of the value.
    constexpr bool is_back(node const& reader, node const& value) const {
        bool const in_loop = value.loop >= 0;
        return (in_loop || (everywhere_ && reader.backward)) &&
               reader.loop == (in_loop ? value.loop + g_.loops : -1) &&
               reader.repeat == (value.repeat < 0 ? -1 : value.repeat + g_.repeats.size());
    }
    // Whether a value is there for another reader anyway.
    static constexpr bool keeps(node const& reader, node const& value) {
        return value.loop >= 0 ? reader.loop != value.loop
                               : reader.backward || reader.kind == op::repeated;
    }

    // How many functions compute a value anew, of values that are there for the backward pass; more
    // than `most` if it takes more, or other operations.
    constexpr int functions_of(int id, int most = most_functions) const {
        node const& n = nodes_[id];
        if (n.kind != op::map || n.derivative >= 0 || most == 0 ||
            (n.loop < 0 ? !is_large(n) : n.function == fn::normalize)) {
            return most + 1;
        }
        int count = 1;
        for (int k = 0; k < n.operands && count <= most; ++k) {
            int const from = n.in[k];
            if (!is_there(from, n.loop)) {
                count += nodes_[from].loop == n.loop ? functions_of(from, most - count) : most;
            }
        }
        return count;
    }
    // Else caches hold the value until it is read again, and to load it costs less.
    static constexpr bool is_large(node const& n) {
        return n.size.sample && n.size.count() >= (is_cheap(n.function) ? 1 << 13 : 1 << 15);
    }

    constexpr bool is_there(int id, int loop) const {
        node const& n = nodes_[id];
        return n.kind == op::constant || n.kind == op::parameter ||
               (n.loop == loop && (mark_[id] & (read_back | left_out)) == read_back);
    }

    constexpr void append_backward() {
        list<node> backward;
        int const count = g_.nodes.size() - forward_;
        backward.append(nodes_ + forward_, count);
        list<int> numbers = list<int>::filled(count, -1);
        int* const moved = numbers.data();
        again_ = list<int>::filled(forward_, -1);
        g_.nodes.truncate(forward_);
        g_.nodes.reserve(2 * forward_ + count);
        nodes_ = g_.nodes.data();
        node* const begin = backward.data();
        for (node* n = begin; n != begin + count; ++n) {
            for (int k = 0; k < n->operands; ++k) {
                if (int const from = n->in[k]; from >= forward_) {
                    n->in[k] = moved[from - forward_];
                } else if (from >= 0 && mark_[from] == left_out && is_back(*n, nodes_[from])) {
                    n->in[k] = computed_again(from, *n);
                }
            }
            moved[n - begin] = g_.nodes.size();
            g_.nodes.push(*n);
        }
        for_each_result(g_, results_,
                        [=, this](int& id) { id = id < forward_ ? id : moved[id - forward_]; });
    }

    // For this node of the backward pass.
    constexpr int computed_again(int id, node const& reader) {
        if (again_[id] < 0) {
            node n = nodes_[id];
            int const loop = n.loop;
            n.backward = true;
            n.loop = reader.loop;
            n.repeat = reader.repeat;
            for (int k = 0; k < n.operands; ++k) {
                if (!is_there(n.in[k], loop)) {
                    n.in[k] = computed_again(n.in[k], reader);
                }
            }
            again_[id] = g_.append(n);
        }
        return again_[id];
    }

    graph& g_;
    results& results_;
    bool everywhere_;
    node const* nodes_;
    int forward_; // nodes of the network, before those of the backward pass
    list<int> marks_;
    int* mark_;
    list<int> again_; // per node of the network: the node that computes it again
};

constexpr void compute_again(graph& g, results& r, bool everywhere) {
    if ((everywhere || g.loops > 0) && !r.gradients.empty()) {
        recomputation{g, r, everywhere}.run();
    }
}

} // namespace castnet::ir
