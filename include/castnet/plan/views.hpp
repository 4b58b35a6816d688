// Views of a graph's values: nodes that show the memory of another one, and how they lie there.
#pragma once

#include <castnet/graph/operations.hpp>
#include <castnet/graph/traced.hpp>

namespace castnet::ir {

// Some channels of a wider array.
constexpr bool is_part_of_row(node const& n) {
    return n.stored == storage::in_place || n.stored == storage::over_slice;
}

// A reshape that moves nothing, a slice that is read in place and what is stored over one, or a
// border of a repeated block.
constexpr bool is_view(node const& n, node const* nodes) {
    return is_part_of_row(n) || n.kind == op::carry || n.kind == op::repeated ||
           (n.kind == op::reshape &&
            (n.attribute == as_stored ||
             (n.size.in_logical_order() && nodes[n.in[0]].size.in_logical_order())));
}
// The node whose memory a view shows: an operand, or what a function is stored over.
constexpr int viewed(node const& n) {
    return n.stored == storage::over_slice ? n.attribute : n.in[n.kind == op::repeated ? 1 : 0];
}

// The node whose memory this one shows.
constexpr int base_of(int id, node const* nodes) {
    while (is_view(nodes[id], nodes)) {
        id = viewed(nodes[id]);
    }
    return id;
}

// Whether a node is computed by a launch of its own.
constexpr bool is_launched(node const& n, node const* nodes) {
    operation_traits const& is = traits_of(n);
    return !is.source && !is.beside && (n.stored == storage::over_slice || !is_view(n, nodes));
}

// The extents of a node's value in memory, which is that of node `base`.
constexpr extents size_in_memory(node const& n, node const& base) {
    extents size = n.size;
    if (base.stored == storage::one_step) {
        size.pixels = 1;
    }
    return size;
}

} // namespace castnet::ir
