// Systems of linear equations: Cholesky's factors, triangular and other systems, determinants. Of
// square matrices in the last two axes, one after the other in an array; a right side has as many
// rows.
//
// No kernel throws: where a matrix has no factor or no inverse, numbers are NaN or infinite.
#pragma once

#include <castnet/graph/arrays.hpp>
#include <castnet/graph/batched_product.hpp>
#include <castnet/graph/differentiation.hpp>
#include <castnet/graph/op/transpose.hpp>

namespace castnet {

namespace ir {

// Which triangle of a matrix is read, and whether the system's matrix is the transposed one.
struct triangle_form {
    bool lower = true, transposed = false;

    // As a node's attribute.
    constexpr int packed() const { return (lower ? 1 : 0) | (transposed ? 2 : 0); }
    CASTNET_HD static constexpr triangle_form unpacked(int x) {
        return {(x & 1) != 0, (x & 2) != 0};
    }
};

// Of an array of square matrices.
CASTNET_HD constexpr int matrices_in(extents const& e) {
    return e.pixels / e.channels;
}

} // namespace ir

namespace detail {

// The numbers of the rows of square matrices, for all columns.
constexpr int row_numbers(ir::graph& g, ir::extents const& matrices) {
    ir::node index;
    index.kind = op::index;
    index.size = {false, ir::matrices_in(matrices), matrices.channels};
    int const numbers = map_node(g, fn::add, index.size, {g.push(index), constant_node(g, 0)});
    return seen_as(g, numbers, {false, matrices.pixels, 1});
}
constexpr int column_numbers(ir::graph& g, ir::extents const& matrices) {
    ir::node index;
    index.kind = op::index;
    index.size = {false, 1, matrices.channels};
    return g.push(index);
}

// The elements of node `inside` on the diagonals of square matrices and on one side of them, those
// of node `outside` on the other side.
constexpr int join_triangles(ir::graph& g, bool lower, int inside, int outside) {
    ir::extents const size = g.nodes[inside].size;
    int const row = row_numbers(g, size), column = column_numbers(g, size);
    int const is_outside = map_node(g, fn::less, {false, size.pixels, size.channels},
                                    {lower ? row : column, lower ? column : row});
    return map_node(g, fn::where, size, {is_outside, outside, inside});
}

// x y', of matrices (n x m) of a right side: what sends -1 times it back to a system's matrix,
// node `like`.
constexpr int outer_products(ir::differentiation& d, int like, int x, int y) {
    ir::product_form const form{.batch = ir::matrices_in(d.at(like).size), .transposed_b = true};
    return d.emit<op::batch_matmul>(like, form.packed(), x, y);
}
constexpr int minus(ir::differentiation& d, int x) {
    return d.times(x, constant_node(d.nodes(), -1), d.at(x).size);
}

} // namespace detail

// x of t x = b.
template <>
struct operation<op::solve_triangular> {
    static constexpr char const* name = "solve_triangular";
    static constexpr operation_traits traits{.reads_attribute = true, .stores_bf16 = false};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::node const n = d.at(i);
        int const t = n.in[0], b = n.in[1];
        ir::triangle_form const form = ir::triangle_form::unpacked(n.attribute);
        ir::node back = n;
        back.attribute = ir::triangle_form{form.lower, !form.transposed}.packed();
        back.in[1] = g;
        int const by_b = d.nodes().push(back);
        d.accumulate(b, by_b);
        if (d.wanted(t)) {
            int const products = detail::outer_products(d, t, form.transposed ? i : by_b,
                                                        form.transposed ? by_b : i);
            d.accumulate(t,
                         detail::join_triangles(d.nodes(), form.lower, detail::minus(d, products),
                                                constant_node(d.nodes(), 0)));
        }
    }
    static constexpr std::ptrdiff_t flops(ir::node const& n, ir::graph_view const& g) {
        return n.size.count() * g.nodes[n.in[0]].size.channels;
    }
};

// L of a symmetric matrix a = L L', of which the lower triangle is read: dA is symmetric, too, half
// of L^-T M L^-1, where M has the lower triangle of L' dL on both sides of the diagonal.
template <>
struct operation<op::cholesky> {
    static constexpr char const* name = "cholesky";
    static constexpr operation_traits traits{.stores_bf16 = false};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::graph& all = d.nodes();
        ir::extents const size = d.at(i).size;
        int const n = size.channels;
        int const by =
            ir::product_form{.batch = ir::matrices_in(size), .transposed_a = true}.packed();
        int const back = ir::triangle_form{.lower = true, .transposed = true}.packed();
        int const symmetric =
            detail::join_triangles(all, true, d.emit<op::batch_matmul>(i, by, i, g),
                                   d.emit<op::batch_matmul>(i, by, g, i));
        int const half = d.emit<op::solve_triangular>(i, back, i, symmetric);
        int const turned =
            d.emit<op::transpose>(i, all.add_window(detail::exchange(n, n, 1)), half);
        int const twice = d.emit<op::solve_triangular>(i, back, i, turned);
        d.accumulate(d.at(i).in[0], d.times(twice, constant_node(all, 0.5), size));
    }
    static constexpr std::ptrdiff_t flops(ir::node const& n, ir::graph_view const&) {
        return n.size.count() * n.size.channels / 3;
    }
};

// The triangular factors of a matrix with exchanged rows: that with a diagonal of 1 below the other
// one; a column more says with which row each was exchanged (a device's T holds such numbers).
// Only solve and determinant read them, which have the matrix beside them for its gradient.
template <>
struct operation<op::triangular_factors> {
    static constexpr char const* name = "triangular_factors";
    static constexpr operation_traits traits{.stores_bf16 = false};
    static constexpr std::ptrdiff_t flops(ir::node const& n, ir::graph_view const&) {
        return n.size.count() * n.size.channels * 2 / 3;
    }
};

// x of a x = b, or of the transposed matrix; in: a, b and a's triangular factors.
template <>
struct operation<op::solve> {
    static constexpr char const* name = "solve";
    static constexpr operation_traits traits{.reads_attribute = true, .stores_bf16 = false};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::node const n = d.at(i);
        ir::node back = n;
        back.attribute = 1 - n.attribute;
        back.in[1] = g;
        int const a = n.in[0], by_b = d.nodes().push(back);
        d.accumulate(n.in[1], by_b);
        if (d.wanted(a)) {
            bool const transposed = n.attribute != 0;
            int const products =
                detail::outer_products(d, a, transposed ? i : by_b, transposed ? by_b : i);
            d.accumulate(a, detail::minus(d, products));
        }
    }
    static constexpr std::ptrdiff_t flops(ir::node const& n, ir::graph_view const& g) {
        return n.size.count() * g.nodes[n.in[0]].size.channels * 2;
    }
};

// One number for each matrix; in: a and its triangular factors. dA is the determinant times the
// transposed inverse: NaN where there is none.
template <>
struct operation<op::determinant> {
    static constexpr char const* name = "determinant";
    static constexpr operation_traits traits{.stores_bf16 = false};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::graph& all = d.nodes();
        ir::node const n = d.at(i);
        ir::extents const size = d.at(n.in[0]).size;
        int const row = detail::row_numbers(all, size), column = detail::column_numbers(all, size);
        int const units =
            map_node(all, fn::equal, {false, size.pixels, size.channels}, {row, column});
        // each matrix as a row, beside its number
        int const batch = ir::matrices_in(size);
        ir::extents const numbers{size.sample, batch, 1},
            rows{size.sample, batch, size.channels * size.channels};
        int const factor = detail::seen_as(all, d.times(g, i, n.size), numbers);
        int const scaled = d.times(detail::seen_as(all, units, rows), factor, rows);
        ir::node inverse = d.at(n.in[0]);
        inverse.kind = op::solve;
        inverse.own = ir::own_operation<op::solve>();
        inverse.derivative = -1;
        inverse.attribute = 1;
        inverse.operands = 3;
        inverse.in[0] = n.in[0];
        inverse.in[1] = detail::seen_as(all, scaled, size);
        inverse.in[2] = n.in[1];
        d.accumulate(n.in[0], all.push(inverse));
    }
};

} // namespace castnet
