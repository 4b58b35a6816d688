// Trace of a loop over time: the nodes of its delays, its body and its feedbacks.
#pragma once

#include <castnet/graph/operations.hpp>

namespace castnet::detail {

class loop_trace {
public:
    constexpr loop_trace(ir::graph& g, int time, bool backward)
        : g_{g}, number_{g.loops++}, time_{time}, direction_{backward ? -1 : 1} {}

    // The steps of a sequence, as a node.
    constexpr int steps(int sequence, int features) {
        ir::node n;
        n.kind = op::reshape;
        n.size = over_time(features);
        n.attribute = ir::as_stored;
        n.in[n.operands++] = sequence;
        return g_.push(n);
    }
    constexpr int delay(int initial, int features) {
        return delay_node(g_, over_time(features), number_, direction_, initial);
    }

    // The nodes from `first` on are those of the cell. What depends on steps or delays, the nodes
    // from `changing` on, has a value for each step.
    constexpr void spread(int changing, int first) {
        for (int i = first; i < g_.nodes.size(); ++i) {
            g_.expect(g_.nodes[i].kind != op::delay, mistake::loop_in_cell);
        }
        ir::list<char> changes = ir::list<char>::with_size(g_.nodes.size() - changing);
        for (int i = changing; i < g_.nodes.size(); ++i) {
            ir::node& n = g_.nodes[i];
            bool mine = i < first || ir::is_drawn(n.kind);
            for (int k = 0; k < n.operands; ++k) {
                mine = mine || (n.in[k] >= changing && changes[n.in[k] - changing] != 0);
            }
            changes[i - changing] = mine ? 1 : 0;
            if (i < first || !mine) {
                continue;
            }
            bool const by_steps = ir::is_drawn(n.kind) || ir::traits_of(n).by_pixels;
            if (!by_steps || n.size.pixels > 1 || !n.size.sample) {
                g_.report(mistake::cell_of_scan);
            }
            // Only element-wise functions repeat a value of all steps.
            for (int k = 0; k < n.operands && n.kind != op::map; ++k) {
                bool const changes_too = n.in[k] >= changing && changes[n.in[k] - changing] != 0;
                g_.expect(changes_too || !g_.nodes[n.in[k]].size.sample,
                          mistake::joins_cell_and_outside);
            }
            n.size = over_time(n.size.channels);
        }
    }

    // A value for each step, even where it is the same for all.
    constexpr int in_all_steps(int id) {
        ir::extents const size = over_time(g_.nodes[id].size.channels);
        return g_.nodes[id].size == size ? id
                                         : map_node(g_, fn::add, size, {id, constant_node(g_, 0)});
    }

    // 1 in the steps that count, else 0.
    constexpr int mask(int lengths) {
        ir::node index;
        index.kind = op::index;
        index.size = {false, 1, time_};
        int const numbers =
            map_node(g_, fn::add, index.size, {g_.push(index), constant_node(g_, 0)});
        ir::node column;
        column.kind = op::reshape;
        column.size = {false, time_, 1};
        column.attribute = ir::as_stored;
        column.in[column.operands++] = numbers;
        int const step = g_.push(column);
        return map_node(g_, fn::less, over_time(1), {step, lengths});
    }
    // `value` where the mask is 1, else `other`.
    constexpr int masked(int mask, int value, int other) {
        return map_node(g_, fn::where, g_.nodes[value].size, {mask, value, other});
    }
    constexpr int zero() { return constant_node(g_, 0); }

    // `lengths` of the samples, -1 where all have as many steps.
    constexpr void feedback(int delay, int next, int lengths) {
        feedback_node(g_, delay, next, lengths >= 0 && is_in_memory(lengths) ? lengths : -1);
    }

    constexpr int last(int id) { return step_node(g_, id, direction_ > 0 ? time_ - 1 : 0); }

private:
    // For every sample.
    constexpr bool is_in_memory(int id) const {
        ir::node const& n = g_.nodes[id];
        return n.size.sample && (n.kind == op::input || !ir::traits_of(n).source);
    }

    constexpr ir::extents over_time(int features) const { return {true, time_, features}; }

    ir::graph& g_;
    int number_, time_, direction_;
};

} // namespace castnet::detail
