// Loops over time, found in a graph: which nodes belong to the body of each, and their order.
//
// Between the delays of a loop and its feedbacks stand nodes of three kinds. Those that read a
// delay and lead to a feedback are the body: they are computed step by step. What reads no delay is
// there before the loop, and what leads to no feedback may wait until it has ended: both are
// computed for all of time at once. So the product of a sequence with a weight leaves the loop, and
// so do the sums of gradients of parameters.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

#include <utility>

namespace castnet::ir {

// Appends the nodes anew: of every loop, first what stands before it, then the body, then the rest.
class loop_order {
public:
    constexpr loop_order(graph& g, results& r)
        : g_{g}, results_{r}, moved_{list<int>::filled(g.nodes.size(), -1)} {}

    constexpr void run() {
        old_ = std::exchange(g_.nodes, {});
        g_.nodes.reserve(old_.size());
        ends_ = list<int>::filled(2 * g_.loops, -1); // of each loop: the last feedback
        for (int i = 0; i < old_.size(); ++i) {
            node& n = old_[i];
            if (n.kind == op::feedback) {
                ends_[n.loop] = i;
            } else if (n.kind != op::delay) {
                n.loop = -1; // until it is found in a body
            }
        }
        find_alive();
        for (int i = 0; i < old_.size(); ++i) {
            if (old_[i].kind == op::delay && ends_[old_[i].loop] >= 0) {
                int const end = ends_[old_[i].loop];
                move_loop(i, end);
                i = end;
            } else {
                move(i);
            }
        }
        renumber(g_, results_, moved_);
    }

private:
    enum part : char { before, after, body };

    // Loops that nothing depends on disappear: a feedback has no reader that would tell, and what a
    // repeated block leaves may have none but its next repetition.
    constexpr void find_alive() {
        alive_ = list<char>::with_size(old_.size());
        for_each_result(g_, results_, [this](int id) { alive_[id] = 1; });
        for (int i = old_.size() - 1; i >= 0; --i) {
            node const& n = old_[i];
            if (!alive_[i]) {
                continue;
            }
            for (int k = 0; k < n.operands; ++k) {
                if (n.in[k] >= 0) {
                    alive_[n.in[k]] = 1;
                }
            }
            if (n.kind == op::delay || n.kind == op::carry) {
                if (int const unseen = n.kind == op::delay ? last_feedback_of(i) : repeated_of(i);
                    unseen >= 0) {
                    alive_[unseen] = 1;
                    i = unseen + 1; // its operands once more
                }
            }
        }
    }
    // The feedback of a delay if it does not count as alive yet, else -1.
    constexpr int last_feedback_of(int delay) const {
        for (int i = ends_[old_[delay].loop]; i > delay; --i) {
            if (old_[i].kind == op::feedback && old_[i].in[0] == delay) {
                return alive_[i] ? -1 : i;
            }
        }
        return -1;
    }

    // The end of the block of a carry, in the same way.
    constexpr int repeated_of(int carry) const {
        int end = carry + 1;
        while (old_[end].kind != op::repeated || old_[end].in[0] != carry) {
            ++end;
        }
        return alive_[end] ? -1 : end;
    }

    constexpr void move_loop(int first, int last) {
        int const loop = old_[first].loop;
        list<char> reads = list<char>::with_size(last + 1 - first), leads = reads;
        for (int i = first; i <= last; ++i) {
            node const& n = old_[i];
            bool mine = n.kind == op::delay;
            for (int k = 0; k < n.operands; ++k) {
                mine = mine || (n.in[k] >= first && reads[n.in[k] - first] != 0);
            }
            reads[i - first] = mine ? 1 : 0;
        }
        for (int i = last; i >= first; --i) {
            node const& n = old_[i];
            if (n.kind == op::feedback && alive_[i]) {
                leads[i - first] = 1;
            }
            for (int k = 0; leads[i - first] && k < n.operands; ++k) {
                if (n.in[k] >= first) {
                    leads[n.in[k] - first] = 1;
                }
            }
        }
        list<part> parts = list<part>::filled(last + 1 - first, before);
        for (int i = first; i <= last; ++i) {
            node const& n = old_[i];
            part& mine = parts[i - first];
            mine = n.kind == op::delay                               ? before
                   : n.kind == op::feedback                          ? (alive_[i] ? body : after)
                   : !reads[i - first]                               ? before
                   : leads[i - first] || joins_body(n, first, parts) ? body
                                                                     : after;
        }
        for (part const now : {before, body, after}) {
            for (int i = first; i <= last; ++i) {
                node& n = old_[i];
                if (parts[i - first] != now) {
                    continue;
                }
                if (now == body) {
                    n.loop = loop;
                    if (n.device != old_[first].device) {
                        throw "castnet: the steps of a loop over time run on one device";
                    }
                }
                if (n.kind != op::feedback || alive_[i]) {
                    move(i);
                }
            }
        }
    }

    // Whether a node joins what a step has computed, so that only the joined array is kept.
    static constexpr bool joins_body(node const& n, int first, list<part> const& parts) {
        bool joins = n.kind == op::concat;
        for (int k = 0; k < n.operands; ++k) {
            joins = joins && n.in[k] >= first && parts[n.in[k] - first] == body;
        }
        return joins;
    }

    constexpr void move(int i) {
        node n = old_[i];
        for (int k = 0; k < n.operands; ++k) {
            if (n.in[k] >= 0) {
                n.in[k] = moved_[n.in[k]];
            }
        }
        moved_[i] = g_.append(n);
    }

    graph& g_;
    results& results_;
    list<node> old_;
    list<int> moved_; // per old node: the new one
    list<int> ends_;
    list<char> alive_;
};

constexpr void order_loops(graph& g, results& r) {
    if (g.loops > 0) {
        loop_order{g, r}.run();
    }
}

} // namespace castnet::ir
