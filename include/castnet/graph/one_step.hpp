// The graph of a single step of time of a network with loops or causal attention: carries become
// inputs, which the step before has computed, and outputs; keys and values become caches.
//
// A value of the network is computed step by step if it has a time axis and none of its steps
// depends on another one but by a carry or by causal attention, which reads the steps so far from
// the caches. The step's graph has the same nodes without that axis; of what is different in each
// step, such as positions, it takes the row of the step.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

#include <utility>

namespace castnet::ir {

// Makes the graph of a step of a graph that is not differentiated. Inputs keep their order, then
// come the carries, all of which begin at 0; behind the outputs stand the next values of carries.
class one_step {
public:
    constexpr one_step(graph& g, results& r) : g_{g}, results_{r} {}

    constexpr void run() {
        for (node const& n : g_.nodes) {
            if (n.kind == op::delay || n.kind == op::attention) {
                time_ = n.size.pixels;
                break;
            }
        }
        if (time_ == 0) {
            g_.report(mistake::no_loop_over_time);
            return;
        }
        old_ = std::exchange(g_.nodes, {});
        moved_ = list<int>::filled(old_.size(), -1);
        time_of_ = list<lies>::filled(old_.size(), lies::nowhere);
        rows_ = moved_;
        find_rows();
        for (int i = 0; i < old_.size(); ++i) {
            if (!add(i)) {
                g_.report(mistake::not_step_by_step);
                g_.nodes = std::move(old_);
                return;
            }
        }
        finish();
    }

    // Of a sequence; 0 where it may have any number of steps.
    constexpr int most_steps() const { return position_ >= 0 ? time_ : 0; }

    // Makes the results of the same network's graph, as it was before run(), sequences whose rows
    // are the carries behind each step, in their order, and then those that the caches hold.
    constexpr void keep_states(graph& whole, results& r) const {
        extents const numbers{true, 1, time_};
        r.outputs.clear();
        for (carry const& c : carries_) {
            bool const counts = position_ >= 0 && &c == &carries_[position_];
            whole.device = 0;
            if (c.sequence >= 0) {
                r.outputs.push(in_own_array(whole, c.sequence));
            } else if (counts) {
                node index;
                index.kind = op::index;
                index.size = {false, 1, time_};
                r.outputs.push(map_node(whole, fn::add, numbers,
                                        {whole.push(index), constant_node(whole, 1)}));
            } else { // has begun
                r.outputs.push(map_node(whole, fn::add, numbers,
                                        {constant_node(whole, 0), constant_node(whole, 1)}));
            }
        }
        for (int const sequence : cached_) {
            r.outputs.push(in_own_array(whole, sequence));
        }
    }

private:
    enum class lies : char { // where the time of a value is
        nowhere,             // the same value in all steps
        in_pixels,           // (time, features), or some pixels for each step
        in_row,              // the same as one vector; (time)
        behind               // the value of the last step
    };
    struct carry {
        int delay, value, next; // the old node; the new ones, before and behind the step
        int sequence = -1;      // the old node of all next values
    };

    // Vectors that are sequences of numbers: a loop or a table reads their elements step by step.
    constexpr void find_rows() {
        is_row_ = list<char>::filled(old_.size(), 0);
        for (int i = old_.size() - 1; i >= 0 && time_ > 1; --i) {
            node const& n = old_[i];
            bool const steps = n.size.pixels == time_;
            if (n.kind == op::gather_rows && steps) {
                is_row_[n.in[1]] = old_[n.in[1]].size.channels == time_ ? 1 : 0;
            } else if (n.kind == op::reshape && steps && n.size.channels == 1) {
                is_row_[n.in[0]] = is_time_row(n.in[0]) ? 1 : 0;
            } else if (n.kind == op::map && is_row_[i]) {
                for (int k = 0; k < n.operands; ++k) {
                    if (is_time_row(n.in[k])) {
                        is_row_[n.in[k]] = 1;
                    }
                }
            }
        }
    }
    constexpr bool is_time_row(int i) const {
        extents const e = old_[i].size;
        return e.sample && e.pixels == 1 && e.channels == time_;
    }

    // Adds what node i is in a step; false where it is none.
    constexpr bool add(int i) {
        node n = old_[i];
        n.loop = -1;
        switch (n.kind) {
        case op::input:
            time_of_[i] = time_ == 1               ? lies::nowhere
                          : is_row_[i]             ? lies::in_row
                          : n.size.pixels == time_ ? lies::in_pixels
                                                   : lies::nowhere;
            break;
        case op::delay:
            return add_carry(i);
        case op::feedback:
            for (carry& c : carries_) {
                if (c.delay == n.in[0]) {
                    c.next = moved_[n.in[1]];
                    c.sequence = n.in[1];
                }
            }
            return time_ == 1 || time_of_[n.in[1]] == lies::in_pixels;
        case op::attention:
            return attend(i);
        default:
            if (!find_time(i)) {
                return false;
            }
        }
        if (moved_[i] < 0) {
            put(i, n);
        }
        return true;
    }

    constexpr void put(int i, node n) {
        for (int k = 0; k < n.operands; ++k) {
            bool const row = time_of_[i] == lies::in_pixels && has_row(old_[i], k);
            n.in[k] = n.in[k] < 0 ? -1 : row ? row_of_step(n.in[k]) : moved_[n.in[k]];
        }
        if (time_of_[i] == lies::in_pixels) {
            n.size.pixels /= time_;
        } else if (time_of_[i] == lies::in_row) {
            n.size.channels /= time_;
        }
        g_.device = n.device;
        moved_[i] = g_.push(n);
    }

    // Where the time of an operation's result is; false where its steps depend on others.
    constexpr bool find_time(int i) {
        node const& n = old_[i];
        bool pixels = n.kind == op::map && n.size.pixels == time_ && time_ > 1, row = false,
             behind = false; // a function of values without time has it, too
        for (int k = 0; k < n.operands; ++k) {
            pixels = pixels && (n.in[k] < 0 || old_[n.in[k]].size.pixels == 1);
        }
        for (int k = 0; k < n.operands; ++k) {
            lies const from = n.in[k] < 0 ? lies::nowhere : time_of_[n.in[k]];
            pixels = pixels || from == lies::in_pixels;
            row = row || from == lies::in_row;
            behind = behind || from == lies::behind;
        }
        if (!pixels && !row) {
            time_of_[i] = behind ? lies::behind : lies::nowhere;
            return true;
        }
        if (pixels && row) {
            return false;
        }
        if (n.kind == op::reshape) {
            return reshape(i);
        }
        if (row && n.kind == op::gather_rows) {
            time_of_[i] = lies::in_pixels;
            return !behind && n.size.pixels == time_;
        }
        if (row && n.kind == op::slice) { // of the last step
            int const features = old_[n.in[0]].size.channels / time_;
            time_of_[i] = lies::behind;
            moved_[i] = moved_[n.in[0]];
            return n.size.channels == features && n.attribute == (time_ - 1) * features;
        }
        time_of_[i] = row ? lies::in_row : lies::in_pixels;
        return !behind && treats_steps_alike(n, time_of_[i]);
    }

    constexpr bool treats_steps_alike(node const& n, lies time) const {
        bool const row = time == lies::in_row;
        if (row ? n.kind != op::map || n.size.pixels > 1
                : !traits_of(n).by_pixels || n.size.pixels % time_ != 0) {
            return false;
        }
        for (int k = 0; k < n.operands; ++k) {
            bool const weight = traits_of(n).product && k == 1;
            if (n.in[k] >= 0 && !weight && time_of_[n.in[k]] != time && (row || !has_row(n, k))) {
                extents const e = old_[n.in[k]].size; // the same in all steps
                if ((row ? e.channels : e.pixels) > 1) {
                    return false;
                }
            }
        }
        return true;
    }

    // Whether operand k of a function of sequences is known before the first step and has something
    // else for each step.
    constexpr bool has_row(node const& n, int k) const {
        if (n.kind != op::map || n.in[k] < 0 || time_of_[n.in[k]] != lies::nowhere || time_ == 1) {
            return false;
        }
        node const& x = old_[n.in[k]];
        bool const stored = !traits_of(x).source || x.kind == op::parameter;
        return x.size.pixels == n.size.pixels && n.size.pixels % time_ == 0 &&
               x.size.in_logical_order() && (stored || x.kind == op::index);
    }
    constexpr int row_of_step(int i) {
        if (rows_[i] < 0) {
            extents const all = old_[i].size;
            if (old_[i].kind == op::index) { // along the channels
                node index = old_[i];
                index.size.pixels /= time_;
                return rows_[i] = g_.push(index);
            }
            int const in_step = static_cast<int>(all.count()) / time_;
            int const table = view(moved_[i], {all.sample, time_, in_step});
            node n;
            n.kind = op::gather_rows;
            n.size = {true, 1, in_step};
            n.attribute = -1;
            n.operands = 2;
            n.in[0] = table;
            n.in[1] = position();
            rows_[i] = view(g_.push(n), {true, all.pixels / time_, all.channels});
        }
        return rows_[i];
    }
    constexpr int view(int of, extents size) {
        if (g_.nodes[of].size == size) {
            return of;
        }
        node n;
        n.kind = op::reshape;
        n.size = size;
        n.attribute = as_stored;
        n.operands = 1;
        n.in[0] = of;
        return g_.push(n);
    }

    // Causal attention of a sequence to itself: a query sees what the caches hold so far.
    constexpr bool attend(int i) {
        node n = old_[i];
        attention_form form = attention_form::unpacked(n.attribute);
        if (!form.causal || n.operands != 3 || n.size.pixels != time_) {
            return false;
        }
        position(); // also of a single step
        time_of_[i] = time_ == 1 ? lies::nowhere : lies::in_pixels;
        for (int k = 0; k < 3; ++k) {
            if (time_of_[n.in[k]] != time_of_[i] || old_[n.in[k]].size.pixels != time_) {
                return false;
            }
        }
        form.causal = false;
        n.attribute = form.packed();
        n.size.pixels = 1;
        n.in[0] = moved_[n.in[0]];
        n.in[1] = cache_of(n.in[1]);
        n.in[2] = cache_of(n.in[2]);
        n.in[n.operands++] = carries_[position_].next; // so many keys
        g_.device = n.device;
        moved_[i] = g_.push(n);
        return true;
    }
    constexpr int cache_of(int i) {
        g_.device = old_[i].device;
        node n = old_[i];
        n.kind = op::cache;
        n.derivative = n.loop = -1;
        n.attribute = cached_.size();
        cached_.push(i);
        n.operands = 2;
        n.in[0] = moved_[i];
        n.in[1] = position();
        return g_.push(n);
    }

    // The number of the step.
    constexpr int position() {
        if (position_ < 0) {
            int const value = new_carry(-1, 1, g_.device);
            position_ = carries_.size() - 1;
            carries_[position_].next =
                map_node(g_, fn::add, g_.nodes[value].size, {value, constant_node(g_, 1)});
        }
        return carries_[position_].value;
    }

    // From (time, features) to the same elements in one row, or back, or to some pixels for each
    // step.
    constexpr bool reshape(int i) {
        node const& n = old_[i];
        extents const from = old_[n.in[0]].size;
        bool const row = n.size.pixels == 1;
        g_.device = n.device;
        time_of_[i] = row ? lies::in_row : lies::in_pixels;
        if (!from.in_logical_order() || !n.size.in_logical_order() ||
            (!row && n.size.pixels % time_ != 0)) {
            return false;
        }
        extents step = n.size;
        (row ? step.channels : step.pixels) /= time_;
        moved_[i] = view(moved_[n.in[0]], step);
        return true;
    }

    // A carry with an initial value begins there; the flag, a carry itself, says that it has begun.
    constexpr bool add_carry(int i) {
        node const& n = old_[i];
        if (n.attribute < 0 || n.size.pixels != time_) {
            return false;
        }
        time_of_[i] = time_ == 1 ? lies::nowhere : lies::in_pixels;
        int const value = moved_[i] = new_carry(i, n.size.channels, n.device);
        if (n.operands == 1) {
            if (time_of_[n.in[0]] != lies::nowhere) {
                return false;
            }
            if (begun_ < 0) {
                begun_ = new_carry(-1, 1, n.device);
            }
            moved_[i] =
                map_node(g_, fn::where, g_.nodes[value].size, {begun_, value, moved_[n.in[0]]});
        }
        return true;
    }
    constexpr int new_carry(int delay, int channels, int device) {
        node n;
        n.kind = op::input;
        n.size = {true, 1, channels};
        n.attribute = g_.inputs++;
        g_.device = device;
        carries_.push({delay, g_.push(n), -1});
        return carries_.back().value;
    }

    constexpr void finish() {
        for (int& id : results_.outputs) {
            id = moved_[id];
        }
        for (carry& c : carries_) {
            results_.outputs.push(next_value(c));
        }
        for (parameter& p : g_.parameters) {
            p.node = moved_[p.node];
        }
    }
    constexpr int next_value(carry const& c) {
        node const n = g_.nodes[c.value];
        g_.device = n.device;
        if (c.next < 0) {
            return map_node(g_, fn::add, n.size, {constant_node(g_, 0), constant_node(g_, 1)});
        }
        return in_own_array(g_, c.next);
    }
    static constexpr int in_own_array(graph& g, int i) {
        int base = i;
        while (g.nodes[base].kind == op::reshape) {
            base = g.nodes[base].in[0];
        }
        if (!traits_of(g.nodes[base]).source) {
            return i;
        }
        extents const size = g.nodes[i].size;
        g.device = g.nodes[i].device;
        return map_node(g, fn::add, {true, size.pixels, size.channels}, {i, constant_node(g, 0)});
    }

    graph& g_;
    results& results_;
    int time_ = 0; // steps of the sequences
    list<node> old_;
    list<char> is_row_;
    list<int> moved_;    // per old node: the new one
    list<lies> time_of_; // per old node
    list<carry> carries_;
    list<int> cached_;  // the old nodes of what each cache holds
    list<int> rows_;    // per old node that has one: the new one that is the row of the step
    int begun_ = -1;    // the flag's new node
    int position_ = -1; // the number of the carry that counts steps
};

} // namespace castnet::ir
