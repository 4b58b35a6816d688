// Operations that carry values from one iteration of a loop over a sequence to the next: a delay,
// and the feedback that closes its circle.
//
// A sequence (time, features) has its steps as pixels. Within a loop a step is computed when the
// one before is there; everything else about the nodes of a loop is as it is for other sequences,
// and so are their gradients. delay is an array whose first step is an initial value and whose
// other steps are those of another node, one step late. feedback comes last in the loop and names
// that node, so that every node stands after its operands. In a loop that runs backwards in time,
// the first step is the last one of the array.
#pragma once

#include <castnet/graph/differentiation.hpp>

namespace castnet {

namespace detail {

// Starts at `initial` (a node), at 0 where there is none.
constexpr int delay_node(ir::graph& g, ir::extents size, int loop, int direction,
                         int initial = -1) {
    ir::node n;
    n.kind = op::delay;
    n.size = size;
    n.loop = loop;
    n.attribute = direction;
    if (initial >= 0) {
        n.in[n.operands++] = initial;
    }
    return g.push(n);
}

// `lengths`, if it is a node: how many steps of each sample count. In the others next is what the
// delay is, and no gradient arrives, so that a device need not compute them one by one.
constexpr int feedback_node(ir::graph& g, int delay, int next, int lengths = -1) {
    ir::node n = g.nodes[delay];
    n.kind = op::feedback;
    n.operands = lengths < 0 ? 2 : 3;
    n.in[0] = delay;
    n.in[1] = next;
    n.in[2] = lengths;
    return g.push(n);
}

// The step of a sequence at this place, as a vector of each sample.
constexpr int step_node(ir::graph& g, int sequence, int place) {
    ir::extents const all = g.nodes[sequence].size;
    ir::node row;
    row.kind = op::reshape;
    row.size = {all.sample, 1, static_cast<int>(all.count())};
    row.attribute = ir::as_stored;
    row.in[row.operands++] = sequence;
    int const id = g.push(row);
    ir::node n;
    n.kind = op::slice;
    n.size = {all.sample, 1, all.channels};
    n.attribute = place * all.channels;
    n.in[n.operands++] = id;
    return g.push(n);
}

} // namespace detail

// The gradient of a loop is a loop in the other direction: what is sent to a step of the delay goes
// to the step before of the node that it repeats, and in the end to the initial value.
template <>
struct operation<op::feedback> {
    static constexpr char const* name = "feedback";
    static constexpr operation_traits traits{
        .reads_attribute = true, .by_pixels = true, .recurrent = true};
    static constexpr void gradient(ir::differentiation& d, int i, int) {
        ir::node const n = d.at(i);
        if (d.wanted(n.in[0]) && d.reaches_loop(i) && d.first_through_loop(n.loop)) {
            int const step = n.attribute > 0 ? n.size.pixels - 1 : 0;
            int const back = detail::delay_node(d.nodes(), n.size, d.loop_back(n.loop),
                                                -n.attribute, d.take_step(n.in[1], step));
            d.remember(n.in[0], back);
            d.accumulate(n.in[1], back);
        }
    }
};

template <>
struct operation<op::delay> {
    static constexpr char const* name = "delay";
    static constexpr operation_traits traits{.reads_attribute = true, .recurrent = true};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::node const n = d.at(i);
        int const back = d.remembered(i);
        if (back < 0) {
            return;
        }
        if (g < 0) { // nobody who has a gradient reads it
            int const zero = constant_node(d.nodes(), 0);
            g = d.map(fn::add, n.size, {zero, zero});
        }
        detail::feedback_node(d.nodes(), back, g, lengths_of(d, i));
        if (n.operands == 1 && d.wanted(n.in[0])) {
            int const first = n.attribute > 0 ? 0 : n.size.pixels - 1;
            d.accumulate(n.in[0], detail::step_node(d.nodes(), g, first));
        }
    }

private:
    static constexpr int lengths_of(ir::differentiation const& d, int delay) {
        int end = delay + 1;
        while (d.at(end).kind != op::feedback || d.at(end).in[0] != delay) {
            ++end;
        }
        return d.at(end).operands == 3 ? d.at(end).in[2] : -1;
    }
};

} // namespace castnet
