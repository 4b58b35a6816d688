// Channels that concatenations of a loop over time share, such as the gradients of a GRU's gates by
// the input and by the state: the loop keeps one of the two and what the other one has for itself,
// and joins that after the loop, where the first one may be overwritten.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

#include <utility>

namespace castnet::ir {

// Appends the nodes anew; for graphs whose loops are in order.
class channel_sharing {
public:
    constexpr channel_sharing(graph& g, results& r)
        : g_{g}, results_{r}, nodes_{g.nodes.data()}, count_{g.nodes.size()} {}

    constexpr void run() {
        list<int> joined;
        for (int i = 0; i < count_; ++i) {
            if (nodes_[i].kind == op::concat && nodes_[i].loop >= 0) {
                joined.push(i);
            }
        }
        if (joined.size() > 1 && find_pairs(joined)) {
            append_anew();
        }
    }

private:
    static constexpr int nobody = -1;

    constexpr bool find_pairs(list<int> const& joined) {
        find_readers();
        kept_ = list<int>::filled(count_, -1);
        bool any = false;
        for (int const id : joined) {
            for (int const other : joined) {
                if (other < id && kept_[id] < 0 && may_share(id, other)) {
                    kept_[id] = other;
                    any = true;
                }
            }
        }
        return any;
    }

    constexpr void find_readers() {
        first_reader_ = list<int>::filled(count_, nobody);
        last_reader_ = first_reader_;
        in_loops_ = list<char>::with_size(count_);
        for_each_result(g_, results_, [this](int id) { last_reader_[id] = count_; });
        for (int i = 0; i < count_; ++i) {
            for (int k = 0; k < nodes_[i].operands; ++k) {
                if (int const x = nodes_[i].in[k]; x >= 0) {
                    first_reader_[x] = first_reader_[x] == nobody ? i : first_reader_[x];
                    last_reader_[x] = last_reader_[x] < i ? i : last_reader_[x];
                    in_loops_[x] = in_loops_[x] != 0 || nodes_[i].loop >= 0 ? 1 : 0;
                }
            }
        }
    }

    // Whether the first one is read after the loop only, and the other one no longer then.
    constexpr bool may_share(int id, int other) const {
        node const &mine = nodes_[id], &theirs = nodes_[other];
        if (kept_[other] >= 0 || mine.loop != theirs.loop || mine.size != theirs.size ||
            mine.operands != theirs.operands || in_loops_[id] != 0 || last_reader_[id] == count_ ||
            last_reader_[other] >= first_reader_[id]) {
            return false;
        }
        difference const d = difference_of(id, other);
        return d.first < d.last && d.end - d.begin < mine.size.channels;
    }

    // In the operands from `first` to the one before `last`, channels `begin` to `end`.
    struct difference {
        int first, last, begin, end;
    };
    constexpr difference difference_of(int id, int other) const {
        node const &a = nodes_[id], &b = nodes_[other];
        difference d{0, a.operands, 0, a.size.channels};
        for (; d.first < d.last && a.in[d.first] == b.in[d.first]; ++d.first) {
            d.begin += nodes_[a.in[d.first]].size.channels;
        }
        for (; d.last > d.first && a.in[d.last - 1] == b.in[d.last - 1]; --d.last) {
            d.end -= nodes_[a.in[d.last - 1]].size.channels;
        }
        return d;
    }

    constexpr void append_anew() {
        list<node> const old = std::exchange(g_.nodes, {});
        nodes_ = old.data();
        moved_ = list<int>::filled(count_, -1);
        g_.nodes.reserve(count_ + 8);
        for (int i = 0; i < count_; ++i) {
            if (kept_[i] >= 0) {
                moved_[i] = keep_difference(i);
                continue;
            }
            node n = nodes_[i];
            for (int k = 0; k < n.operands; ++k) {
                if (int const x = n.in[k]; x >= 0) {
                    if (kept_[x] >= 0 && first_reader_[x] == i) {
                        first_reader_[x] = nobody;
                        moved_[x] = join(x);
                    }
                    n.in[k] = moved_[x];
                }
            }
            moved_[i] = g_.append(n);
        }
        renumber(g_, results_, moved_);
    }

    // The part of a concat that the loop keeps.
    constexpr int keep_difference(int id) {
        difference const d = difference_of(id, kept_[id]);
        node n = over_same_steps(op::concat, id, d.end - d.begin);
        n.loop = nodes_[id].loop;
        for (int k = d.first; k < d.last; ++k) {
            n.in[n.operands++] = moved_[nodes_[id].in[k]];
        }
        return g_.append(n);
    }

    // All of it, after the loop.
    constexpr int join(int id) {
        difference const d = difference_of(id, kept_[id]);
        int const channels = nodes_[id].size.channels;
        node n = over_same_steps(op::concat, id, channels);
        if (d.begin > 0) {
            n.in[n.operands++] = shared(id, 0, d.begin);
        }
        n.in[n.operands++] = moved_[id];
        if (d.end < channels) {
            n.in[n.operands++] = shared(id, d.end, channels);
        }
        return g_.append(n);
    }
    constexpr int shared(int id, int begin, int end) {
        node n = over_same_steps(op::slice, id, end - begin);
        n.attribute = begin;
        n.stored = storage::in_place;
        n.in[n.operands++] = moved_[kept_[id]];
        return g_.append(n);
    }

    constexpr node over_same_steps(op kind, int id, int channels) const {
        node n;
        n.kind = kind;
        n.size = nodes_[id].size;
        n.size.channels = channels;
        n.repeat = nodes_[id].repeat;
        n.device = nodes_[id].device;
        return n;
    }

    graph& g_;
    results& results_;
    node const* nodes_;
    int count_;
    // Per old node:
    list<int> first_reader_;
    list<int> last_reader_; // the number of nodes for results
    list<char> in_loops_;   // whether a loop reads it
    list<int> kept_;        // of a concat: the one whose channels it shares
    list<int> moved_;       // the new one
};

constexpr void share_channels_in_loops(graph& g, results& r) {
    if (g.loops > 0 && !r.gradients.empty()) {
        channel_sharing{g, r}.run();
    }
}

} // namespace castnet::ir
