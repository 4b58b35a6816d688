// Gradients of slices, joined once they cover the node that the slices are of.
#pragma once

#include <castnet/graph/graph.hpp>

namespace castnet::ir {

// Gradients of channels of nodes, which wait for the other slices of their node: to join all of
// them costs less than to add up arrays that are mostly 0.
class slice_gradients {
public:
    // The gradient of the channels of node `of` from `first` on.
    constexpr void add(int of, int first, int gradient) {
        waiting_.push({of, first, gradient});
        count_ += 1;
    }

    // If the slices of node `of` that wait follow one another from the first channel to the last:
    // the node of its gradient, for which they wait no more. Else -1.
    constexpr int join(graph& g, int of) {
        node n = g.nodes[of];
        int const channels = n.size.channels;
        n.operands = 0;
        int end = 0;
        while (end < channels && n.operands < max_operands) {
            int const k = find(of, end);
            if (k < 0) {
                return -1;
            }
            n.in[n.operands++] = waiting_[k].gradient;
            end += g.nodes[waiting_[k].gradient].size.channels;
        }
        if (end != channels) {
            return -1;
        }
        for (int first = 0; first < channels;) {
            int const k = find(of, first);
            first += g.nodes[waiting_[k].gradient].size.channels;
            forget(k);
        }
        if (n.operands == 1) {
            return n.in[0];
        }
        n.kind = op::concat;
        n.own = nullptr;
        n.derivative = -1;
        n.attribute = -1;
        return concatenation(g, n);
    }

    // Calls f(first, gradient) for each slice of node `of` that waits, and waits for it no more.
    template <class F>
    constexpr void take(int of, F const& f) {
        for (int k = 0; k < waiting_.size(); ++k) {
            if (waiting_[k].of == of) {
                f(waiting_[k].first, waiting_[k].gradient);
                forget(k);
            }
        }
    }

    constexpr bool any_wait() const { return count_ > 0; }
    // Whether slices of one of the nodes [first, last) do.
    constexpr bool any_wait(int first, int last) const {
        for (slice const& s : waiting_) {
            if (s.of >= first && s.of < last) {
                return true;
            }
        }
        return false;
    }

private:
    struct slice {
        int of; // -1: taken
        int first, gradient;
    };

    // The slice of node `of` that begins at this channel, or -1.
    constexpr int find(int of, int first) const {
        for (int k = 0; k < waiting_.size(); ++k) {
            if (waiting_[k].of == of && waiting_[k].first == first) {
                return k;
            }
        }
        return -1;
    }

    constexpr void forget(int k) {
        waiting_[k].of = -1;
        count_ -= 1;
        if (count_ == 0) {
            waiting_.clear();
        }
    }

    // The node of this concat, of which there may be one: where slices of two nodes are added up,
    // both have the same gradients.
    constexpr int concatenation(graph& g, node const& n) {
        for (int const id : joined_) {
            bool same = g.nodes[id].operands == n.operands && g.nodes[id].size == n.size;
            for (int k = 0; same && k < n.operands; ++k) {
                same = g.nodes[id].in[k] == n.in[k];
            }
            if (same) {
                return id;
            }
        }
        joined_.push(g.push(n));
        return joined_.back();
    }

    list<slice> waiting_;
    int count_ = 0;    // of those that are not taken
    list<int> joined_; // nodes that concatenate slices
};

} // namespace castnet::ir
