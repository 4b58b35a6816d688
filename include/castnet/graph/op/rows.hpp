// Rows of a table: those that ids name, and products with all of them.
#pragma once

#include <castnet/graph/differentiation.hpp>
#include <castnet/graph/emit.hpp>
#include <castnet/graph/op/batch_matmul.hpp>
#include <castnet/graph/op/rearrange.hpp>
#include <castnet/graph/op/source.hpp>

namespace castnet {

namespace detail {

template <class Ids, class Table>
struct rows_of;
template <size_t Values, size_t... D, size_t Rows, size_t Columns>
struct rows_of<ids<Values, D...>, shape<Rows, Columns>> {
    using type = row_major_shape<D..., Columns>;
};

} // namespace detail

template <class Ids, class Table>
inline constexpr bool gathers_rows = is_ids<Ids> && !is_ids<Table> && Table::rank == 2;
template <class Ids, class Table>
inline constexpr bool rows_exist = true;
template <size_t Values, size_t... D, size_t Rows, size_t Columns>
inline constexpr bool rows_exist<ids<Values, D...>, shape<Rows, Columns>> = Values <= Rows;

namespace detail {

// Rows of a matrix of the sample itself: the product with a matrix that has a 1 for each id.
template <Shape Result, size_t Rows, size_t Columns, class Ids>
constexpr auto rows_of_sample(symbol<shape<Rows, Columns>> table, symbol<Ids> x) {
    auto const chosen =
        equal(channel_index<shape<Rows>>(*x.g), reshaped(x, shape<Ids::count, 1>{}));
    return reshaped(matmul(chosen, table), Result{});
}

} // namespace detail

// For every id the row of the table with that number: ids (time) give (time, columns). A row of a
// table that all samples share may be left without a gradient (-1: none). Of a table that each
// sample has it is a product, so its numbers are finite.
//
// The gradient with respect to the table is an array of the table's size. Each of its rows is added
// up by one thread, in the order of samples and positions.
template <Shape Table, Shape Ids>
constexpr auto gather_rows(symbol<Table> table, symbol<Ids> x, int without_gradient = -1) {
    static_assert(gathers_rows<Ids, Table>,
                  "castnet: gather_rows takes a table of two axes and ids, which are whole "
                  "numbers: cn::input_ids<values, time>; see gathers_rows<ids, table>");
    static_assert(
        rows_exist<Ids, Table>,
        "castnet: there are ids beyond the rows of the table; see rows_exist<ids, table>");
    if constexpr (gathers_rows<Ids, Table>) {
        using result = typename detail::rows_of<Ids, Table>::type;
        ir::node const n = x.g->nodes[table.id];
        if (n.size.sample) {
            return detail::rows_of_sample<result>(table, x);
        }
        if (n.kind == op::parameter) {
            x.g->parameters[n.attribute].is_table = true;
        }
        return detail::emit_operation<op::gather_rows, result>(
            *x.g, without_gradient, {detail::value_id(table), detail::sample_id(x)});
    } else {
        return table;
    }
}

// The last axis of x times each row of a table: (time, columns) gives (time, rows).
template <Shape S, size_t Rows, size_t Columns>
    requires(S::rank > 0 && !channels_first<S> && channels_of<S> == Columns)
constexpr auto times_rows(symbol<S> x, symbol<shape<Rows, Columns>> table) {
    ir::graph& g = *x.g;
    if (g.nodes[table.id].size.sample) {
        auto const rows = reshaped(x, shape<pixels_of<S>, Columns>{});
        return reshaped(matmul_transposed(rows, table), with_channels<S, Rows>{});
    }
    // As a product reads a weight: its memory is that of an image with a channel for each row.
    ir::axes const turned{
        2, {static_cast<int>(Rows), static_cast<int>(Columns)}, memory_order::channels_last};
    ir::node n;
    n.kind = op::reshape;
    n.size = ir::extents_of(turned, false);
    n.in[n.operands++] = detail::value_id(table);
    return detail::emit_operation<op::matmul, with_channels<S, Rows>>(
        g, -1, {detail::array_id(x), g.push(n)});
}

template <>
struct operation<op::gather_rows> {
    static constexpr char const* name = "gather_rows";
    static constexpr operation_traits traits{};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::node const n = d.at(i);
        if (d.wanted(n.in[0])) {
            d.accumulate(n.in[0], d.emit<op::scatter_rows>(n.in[0], n.attribute, n.in[1], g));
        }
    }
};
template <>
struct operation<op::scatter_rows> {
    static constexpr char const* name = "scatter_rows";
    static constexpr operation_traits traits{.reads_attribute = true, .stores_bf16 = false};
};

} // namespace castnet
