// Graph of a single time step of a network with loops, causal convolutions or causal attention:
// carries become inputs, which the step before has computed, and outputs; keys and values become
// caches. The steps that a convolution reads before the present one are a carry, too.
//
// A value of the network is computed step by step if it has a time axis and none of its steps
// depends on another one but by a carry or by causal attention, which reads the steps so far from
// the caches. Attention to another sequence, such as an encoder's, reads all of that in each step.
// The step's graph has the same nodes without that axis; of what is different in each step, such as
// positions, it takes the row of the step.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/time_axis.hpp>
#include <castnet/graph/traced.hpp>

#include <utility>

namespace castnet::ir {

// Makes the graph of a step of a graph that is not differentiated. Inputs keep their order, then
// come the carries, all of which begin at 0; after the outputs stand the next values of carries.
class one_step {
public:
    constexpr one_step(graph& g, results& r) : g_{g}, results_{r} {}

    constexpr void run() {
        time_ = steps_of_sequences();
        if (time_ == 0) {
            g_.report(mistake::no_loop_over_time);
            return;
        }
        old_ = std::exchange(g_.nodes, {});
        moved_ = list<int>::filled(old_.size(), -1);
        rows_ = moved_;
        axis_ = time_axis{old_, g_.windows, time_};
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

    // Makes the results of the same network's graph, as it was before run(), sequences whose last
    // rows after each step, one or more, are the carries, in their order, and then those that the
    // caches hold.
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
    struct carry {
        int delay, value, next; // the old node; the new ones, before and after the step
        int sequence = -1;      // the old node of all next values, or of the steps that it holds
    };

    // Those that a loop or causal attention has, or else a convolution; 0: none of these is there.
    constexpr int steps_of_sequences() const {
        for (node const& n : g_.nodes) {
            if (n.kind == op::delay || is_causal(n)) {
                return n.size.pixels;
            }
        }
        for (node const& n : g_.nodes) {
            if (looks_back(n) && window_of(n).pad_left > 0) {
                return n.size.pixels;
            }
        }
        return 0;
    }

    // Adds what node i is in a step; false where it is none.
    constexpr bool add(int i) {
        node n = old_[i];
        n.loop = -1;
        switch (n.kind) {
        case op::input:
            axis_.begin(i);
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
            return time_ == 1 || axis_.of(n.in[1]) == time_place::in_pixels;
        case op::attention:
            if (!attend(i)) {
                return false;
            }
            break;
        default:
            if (looks_back(n) && window_of(n).width == time_ &&
                (axis_.of(n.in[0]) == time_place::in_pixels || time_ == 1)) {
                slide(i);
                break;
            }
            if (!axis_.find(i)) {
                return false;
            }
            if (n.kind == op::reshape && has_time(i)) {
                moved_[i] = reshape(i);
            } else if (axis_.is_slice_of_row(i)) {
                moved_[i] = moved_[n.in[0]];
            }
        }
        if (moved_[i] < 0) {
            put(i, n);
        }
        return true;
    }

    constexpr void put(int i, node n) {
        for (int k = 0; k < n.operands; ++k) {
            bool const row = axis_.of(i) == time_place::in_pixels && axis_.has_row(old_[i], k);
            n.in[k] = n.in[k] < 0 ? -1 : row ? row_of_step(n.in[k]) : moved_[n.in[k]];
        }
        if (axis_.of(i) == time_place::in_pixels) {
            n.size.pixels /= time_;
            if (n.kind == op::upsample) {
                window w = window_of(n);
                w.width /= time_;
                w.out_width /= time_;
                n.attribute = g_.add_window(w);
            }
            if (n.kind == op::batch_matmul) {
                product_form f = product_form::unpacked(n.attribute);
                f.batch /= time_;
                n.attribute = f.packed();
            }
        } else if (axis_.of(i) == time_place::in_row) {
            n.size.channels /= time_;
        }
        g_.device = n.device;
        moved_[i] = g_.push(n);
    }

    constexpr bool has_time(int i) const {
        return axis_.of(i) == time_place::in_pixels || axis_.of(i) == time_place::in_row;
    }

    // Of a sequence that is known before the first step, such as positions: the present step's row.
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

    static constexpr bool is_causal(node const& n) {
        return n.kind == op::attention && attention_form::unpacked(n.attribute).causal;
    }

    // A convolution over the steps so far: causal, and of all steps.
    constexpr bool looks_back(node const& n) const {
        if (n.kind != op::conv) {
            return false;
        }
        window const& w = window_of(n);
        return w.height == 1 && w.kernel_h == 1 && w.stride_w == 1 && w.images == 1 &&
               w.out_width == w.width && w.pad_left == (w.kernel_w - 1) * w.dilation_w;
    }
    constexpr window const& window_of(node const& n) const { return g_.windows[n.attribute]; }

    // The window over a carry, which holds the steps before this one, and this one.
    constexpr void slide(int i) {
        axis_.begin(i);
        node n = old_[i];
        window w = window_of(n);
        int const before = w.pad_left, channels = w.channels;
        g_.device = n.device;
        int steps = moved_[n.in[0]];
        if (before > 0) {
            int const held = before * channels;
            int const values = new_carry(-1, held, n.device);
            steps = part(op::concat, -1, held + channels, values, steps);
            carries_.back().next = part(op::slice, channels, held, steps);
            carries_.back().sequence = n.in[0];
            steps = view(steps, {true, before + 1, channels});
        }
        w.width = before + 1;
        w.out_width = 1;
        w.pad_left = 0;
        n.attribute = g_.add_window(w);
        n.loop = -1;
        n.size.pixels = 1;
        n.in[0] = steps;
        n.in[1] = moved_[n.in[1]];
        moved_[i] = g_.push(n);
    }
    constexpr int part(op kind, int attribute, int channels, int of, int behind = -1) {
        node n;
        n.kind = kind;
        n.attribute = attribute;
        n.size = {true, 1, channels};
        n.operands = behind < 0 ? 1 : 2;
        n.in[0] = of;
        n.in[1] = behind;
        return g_.push(n);
    }

    // Attention of a sequence to keys and values that are the same in all steps, such as what an
    // encoder has made of another sequence; or causal attention to itself.
    constexpr bool attend(int i) {
        node const& n = old_[i];
        if (is_causal(n)) {
            return attend_to_caches(i);
        }
        for (int k = 1; k < n.operands; ++k) {
            if (axis_.of(n.in[k]) != time_place::none) {
                return false;
            }
        }
        if (axis_.of(n.in[0]) == time_place::in_pixels) {
            axis_.begin(i);
        }
        return axis_.of(n.in[0]) == axis_.of(i);
    }

    // A query sees what the caches hold so far.
    constexpr bool attend_to_caches(int i) {
        node n = old_[i];
        if (n.operands != 3 || n.size.pixels != time_) {
            return false;
        }
        attention_form form = attention_form::unpacked(n.attribute);
        position(); // also of a single step
        axis_.begin(i);
        for (int k = 0; k < 3; ++k) {
            if (axis_.of(n.in[k]) != axis_.of(i) || old_[n.in[k]].size.pixels != time_) {
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
    constexpr int reshape(int i) {
        node const& n = old_[i];
        g_.device = n.device;
        extents step = n.size;
        (axis_.of(i) == time_place::in_row ? step.channels : step.pixels) /= time_;
        return view(moved_[n.in[0]], step);
    }

    // A carry with an initial value begins there; the flag, a carry itself, says that it has begun.
    constexpr bool add_carry(int i) {
        node const& n = old_[i];
        if (n.attribute < 0 || n.size.pixels != time_) {
            return false;
        }
        axis_.begin(i);
        int const value = moved_[i] = new_carry(i, n.size.channels, n.device);
        if (n.operands == 1) {
            if (axis_.of(n.in[0]) != time_place::none) {
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
        results_.carries = carries_.size();
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
    time_axis axis_{{}, {}, 0}; // of the old nodes
    list<int> moved_;           // per old node: the new one
    list<carry> carries_;
    list<int> cached_;  // the old nodes of what each cache holds
    list<int> rows_;    // per old node that has one: the new one that is the row of the step
    int begun_ = -1;    // the flag's new node
    int position_ = -1; // the number of the carry that counts steps
};

} // namespace castnet::ir
