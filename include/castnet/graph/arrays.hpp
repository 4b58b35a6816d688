// Nodes as arrays: stored for every sample, seen with other extents, and with their axes in another
// order.
#pragma once

#include <castnet/graph/symbol.hpp>

namespace castnet::detail {

// The node of x as an array with a value for every sample, as kernels want it that go from sample
// to sample: what all samples share is repeated, and random numbers are stored, which element-wise
// functions alone draw themselves.
template <class S>
constexpr int sample_id(symbol<S> x) {
    ir::graph& g = *x.g;
    int const id = value_id(x);
    if (g.nodes[id].size.sample && !ir::is_drawn(g.nodes[id].kind)) {
        return id;
    }
    ir::extents size = ir::space_of<S>;
    size.sample = true;
    return map_node(g, fn::add, size, {id, constant_node(g, 0)});
}

// The node of the same memory with other extents.
constexpr int seen_as(ir::graph& g, int id, ir::extents const& size) {
    if (g.nodes[id].size == size) {
        return id;
    }
    ir::node n;
    n.kind = op::reshape;
    n.attribute = ir::as_stored;
    n.size = size;
    n.in[n.operands++] = id;
    return g.push(n);
}

// The window of an exchange: every `channels` neighbours stay together, and of matrices of such,
// (height x width), one after the other, rows become columns.
constexpr ir::window exchange(int rows, int columns, int together) {
    ir::window w;
    w.channels = w.filters = together;
    w.height = w.out_width = rows;
    w.width = w.out_height = columns;
    return w;
}

// Node id with its axes, in the order of memory, in another order: they move to their places one by
// one, each past those before it. `size` is the result's.
constexpr int permuted_node(ir::graph& g, int id, ir::extents size, ir::list<int> wanted,
                            ir::list<int> now, int const* extent) {
    int const rank = wanted.size();
    auto const count = [&](int first, int last) {
        int n = 1;
        for (int i = first; i < last; ++i) {
            n *= extent[now[i]];
        }
        return n;
    };
    for (int i = 0; i < rank; ++i) {
        int from = i;
        while (now[from] != wanted[i]) {
            ++from;
        }
        int const rows = count(i, from), columns = extent[wanted[i]];
        if (rows > 1 && columns > 1) {
            ir::node n;
            n.kind = op::transpose;
            n.size = size;
            n.attribute = g.add_window(exchange(rows, columns, count(from + 1, rank)));
            n.in[n.operands++] = id;
            id = g.push(n);
        }
        for (; from > i; --from) {
            now[from] = now[from - 1];
        }
        now[i] = wanted[i];
    }
    return seen_as(g, id, size);
}

} // namespace castnet::detail
