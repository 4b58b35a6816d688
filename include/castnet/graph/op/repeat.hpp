// Operations at the borders of a repeated block: what a repetition gets from the one before it, and
// what the last one leaves.
//
// The operand of a carry is what the first repetition gets: a node of its own, in whose memory
// repetitions leave what the next one gets. repeated comes after the block, with the carry and the
// node that every repetition leaves, which is the last one of the block. Both only show memory.
#pragma once

#include <castnet/graph/differentiation.hpp>

namespace castnet {

namespace detail {

// The carry of block `number`; its first value is that of node `initial`.
constexpr int carry_node(ir::graph& g, int number, int initial) {
    ir::extents const size = g.nodes[initial].size;
    g.repeat = -1;
    int const one = constant_node(g, 1);
    int const first = map_node(g, fn::multiply, size, {initial, one});
    g.repeat = number;
    ir::node n;
    n.kind = op::carry;
    n.size = size;
    n.in[n.operands++] = first;
    return g.push(n);
}

// Ends the block of this carry, whose next value is that of node `next`.
constexpr int repeated_node(ir::graph& g, int carry, int next) {
    ir::extents const size = g.nodes[carry].size;
    ir::node const& last = g.nodes.back();
    if (next != g.nodes.size() - 1 || last.kind != op::map || !(last.size == size)) {
        int const one = constant_node(g, 1);
        next = map_node(g, fn::multiply, size, {next, one});
    }
    g.repeat = -1;
    ir::node n;
    n.kind = op::repeated;
    n.size = size;
    n.operands = 2;
    n.in[0] = carry;
    n.in[1] = next;
    return g.push(n);
}

} // namespace detail

// The gradient of a block is a block that goes back through it: what is sent to the carry of a
// repetition goes to what the one before it leaves, and in the end to the first value.
template <>
struct operation<op::repeated> {
    static constexpr char const* name = "repeated";
    static constexpr operation_traits traits{};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::node const n = d.at(i);
        if (d.wanted(n.in[1]) && d.first_through_repeat(d.at(n.in[0]).repeat)) {
            int const back = detail::carry_node(d.nodes(), d.repeat_back(d.at(n.in[0]).repeat), g);
            d.remember(n.in[0], back);
            d.accumulate(n.in[1], back);
        }
    }
};

template <>
struct operation<op::carry> {
    static constexpr char const* name = "carry";
    static constexpr operation_traits traits{.recurrent = true};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::node const n = d.at(i);
        int const back = d.remembered(i);
        if (back < 0) {
            return;
        }
        if (g < 0) { // the block does not read it
            int const zero = constant_node(d.nodes(), 0);
            g = d.map(fn::add, n.size, {zero, zero});
        }
        int const first = detail::repeated_node(d.nodes(), back, g);
        d.accumulate(n.in[0], first);
    }
};

} // namespace castnet
