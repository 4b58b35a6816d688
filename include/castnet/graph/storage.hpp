// Storage of a graph's values that need no array of their own: slices that fused programs read in
// place, and values of a loop over time that no other step reads.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

namespace castnet::ir {

// Sets node::stored; for graphs whose loops are in order.
class storage_finder {
public:
    constexpr storage_finder(graph& g, results const& r)
        : nodes_{g.nodes.data()}, count_{g.nodes.size()}, differentiated_{!r.gradients.empty()},
          ends_{list<int>::filled(count_, count_)},
          loop_of_readers_{list<int>::filled(count_, nobody)},
          in_other_steps_{list<char>::with_size(count_)} {
        for_each_result(g, r, [this](int id) { keep(id); });
    }

    constexpr void run() {
        find_ends();
        for (int i = count_ - 1; i >= 0; --i) { // the readers of a node come before it
            node& n = nodes_[i];
            if (loop_of_readers_[i] == nobody && !is_read_next(n.kind)) {
                continue;
            }
            if (n.operands == 1) {
                read_behind_loop(i);
            }
            if (n.kind == op::slice && may_be_in_place(i)) {
                n.stored = storage::in_place;
            } else if (n.loop >= 0 && n.kind != op::feedback && n.size.pixels > 1 &&
                       !in_other_steps_[i]) {
                n.stored = storage::one_step;
            }
            for (int k = 0; k < n.operands; ++k) {
                if (n.in[k] >= 0) {
                    read(n.in[k], i);
                }
            }
        }
        for (last_step const& s : last_steps_) {
            node const& from = nodes_[nodes_[s.number].in[0]];
            if (from.stored != storage::one_step) {
                nodes_[s.number] = s.slice;
            }
        }
    }

private:
    constexpr void keep(int id) {
        loop_of_readers_[id] = various;
        in_other_steps_[id] = 1;
    }

    struct last_step {
        int number;
        node slice; // that it is where all steps are kept
    };
    static constexpr int nobody = -2, various = -3;

    // Of each delay, where it is overwritten, if it is kept for one step only. Before that, all of
    // the loop has to be computed but other feedbacks.
    constexpr void find_ends() {
        int last = -1; // feedback
        for (int i = 0; i < count_; ++i) {
            node const& n = nodes_[i];
            if (n.kind == op::feedback) {
                ends_[n.in[0]] = ends_[n.in[0]] < 0 ? -1 : i;
                last = i;
            } else if (last >= 0 && n.loop == nodes_[last].loop) {
                for (int k = 0; k < i; ++k) {
                    if (nodes_[k].kind == op::delay && nodes_[k].loop == n.loop) {
                        ends_[k] = -1;
                    }
                }
            }
        }
    }

    constexpr void read(int x, int reader) {
        node const& n = nodes_[reader];
        bool const program = n.kind == op::map || n.kind == op::reduce;
        int const loop = program ? n.loop : int{various};
        int& all = loop_of_readers_[x];
        all = all == nobody || all == loop ? loop : int{various};
        bool const behind = !last_steps_.empty() && last_steps_.back().number == reader;
        if ((nodes_[x].loop != n.loop && !behind) || reader > ends_[x] ||
            (n.stored == storage::in_place && in_other_steps_[reader])) {
            in_other_steps_[x] = 1;
        }
    }

    // A slice that is the last step of what a loop computes reads it after the loop, where that is
    // still there if it is kept for one step only.
    constexpr void read_behind_loop(int i) {
        node& n = nodes_[i];
        node const& all = nodes_[n.in[0]];
        int const x = all.kind == op::reshape && all.size.pixels == 1 ? all.in[0] : -1;
        if (n.kind != op::slice || x < 0 || nodes_[x].loop < 0) {
            return;
        }
        extents const from = nodes_[x].size;
        int const last = direction_of(nodes_[x].loop) > 0 ? from.pixels - 1 : 0;
        if (n.size.channels == from.channels && n.attribute == last * from.channels) {
            last_steps_.push({i, n});
            n.kind = op::reshape;
            n.attribute = as_stored;
            n.in[0] = x;
        }
    }
    constexpr int direction_of(int loop) const {
        for (int i = 0; i < count_; ++i) {
            if (nodes_[i].kind == op::feedback && nodes_[i].loop == loop) {
                return nodes_[i].attribute;
            }
        }
        return 1;
    }

    // Read by programs only and, where there is a backward pass, by those of one loop: otherwise
    // all of the operand would be kept for it.
    constexpr bool may_be_in_place(int i) const {
        node const& n = nodes_[i];
        op const from = nodes_[n.in[0]].kind;
        bool const in_memory =
            from != op::constant && from != op::index && from != op::sample_mask && !is_drawn(from);
        int const loop = loop_of_readers_[i];
        bool const in_one_loop = loop >= 0 && (n.loop < 0 || n.loop == loop);
        return in_memory && loop > nobody && (in_one_loop || !differentiated_) &&
               !is_carried(n.in[0]);
    }

    // Where a repetition of a block leaves what the next one gets, it may be overwritten element by
    // element while its elements are read.
    constexpr bool is_carried(int i) const {
        while (nodes_[i].kind == op::reshape) {
            i = nodes_[i].in[0];
        }
        return nodes_[i].kind == op::carry;
    }

    node* nodes_;
    int count_;
    bool differentiated_;
    list<last_step> last_steps_;
    // Per node:
    list<int> ends_;            // of a delay: the feedback that overwrites it
    list<int> loop_of_readers_; // -1 for programs outside of loops
    list<char> in_other_steps_; // whether it is read there
};

constexpr void find_storage(graph& g, results const& r) {
    bool any = g.loops > 0;
    node const* const nodes = g.nodes.data();
    if (r.gradients.empty()) { // outside of loops, a backward pass keeps all of what slices read
        for (int i = g.nodes.size() - 1; i >= 0 && !any; --i) {
            any = nodes[i].kind == op::slice;
        }
    }
    if (any) { // else every node has an array of its own
        storage_finder{g, r}.run();
    }
}

} // namespace castnet::ir
