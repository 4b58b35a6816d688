// Chosen positions of an axis: roll and take, as of tensors (castnet/tensor/).
#pragma once

#include <castnet/graph/op/rows.hpp>
#include <castnet/graph/op/transpose.hpp>
#include <castnet/graph/position_lattice.hpp>
#include <castnet/nn/along_axis.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <utility>

namespace castnet {

namespace detail {

// Neighbouring positions of an axis, from `begin` to before `end`.
struct run_of_positions {
    size_t begin, end;
};

// These positions of x, Count in all, one run after another.
template <size_t Axis, size_t Count, class S>
constexpr auto joined_runs(symbol<S> x, run_of_positions const* runs, int count) {
    using rows = rows_along<S, Axis>;
    using result = resized<S, Axis, Count>;
    ir::graph& g = *x.g;
    int const all = seen_as_rows<Axis>(x);
    ir::list<int> parts;
    for (int i = 0; i < count; ++i) {
        ir::node n;
        n.kind = op::slice;
        n.attribute = static_cast<int>(runs[i].begin * rows::inner);
        n.size = {any_of_samples(x), rows::rows,
                  static_cast<int>((runs[i].end - runs[i].begin) * rows::inner)};
        n.in[n.operands++] = all;
        parts.push(g.push(n));
    }
    int const together = joined<shape<size_t(rows::rows), 1>>(g, parts.data(), count);
    return symbol<result>{&g, seen_as(g, together, ir::space_of<result>)};
}

// Of matrices of such groups, (rows x columns), rows become columns.
constexpr int exchanged(ir::graph& g, int id, int rows, int columns, int together) {
    ir::extents const size{g.nodes[id].size.sample, columns, rows * together};
    if (rows == 1 || columns == 1) {
        return seen_as(g, id, size);
    }
    ir::node n;
    n.kind = op::transpose;
    n.attribute = g.add_window(exchange(rows, columns, together));
    n.size = size;
    n.in[n.operands++] = id;
    return g.push(n);
}

// The positions of such a lattice, Count in all, of what all samples share.
template <size_t Axis, size_t Count, class S>
constexpr auto gathered(symbol<S> x, position_lattice const& positions) {
    using rows = rows_along<S, Axis>;
    constexpr int inner = static_cast<int>(rows::inner), count = static_cast<int>(Count);
    ir::graph& g = *x.g;
    ir::node n;
    n.kind = op::gather_rows;
    n.size = {false, count, rows::rows * inner};
    n.operands = 2;
    n.in[0] = exchanged(g, array_id(x), rows::rows, static_cast<int>(S::extent[Axis]), inner);
    n.in[1] = places_in(positions, channel_index<shape<Count>>(g)).id;
    int const all = exchanged(g, g.push(n), count, rows::rows, inner);
    using result = resized<S, Axis, Count>;
    return symbol<result>{&g, seen_as(g, all, ir::space_of<result>)};
}

} // namespace detail

// Each position of an axis moved by `shift`, which may be negative; what is moved beyond one end
// comes in at the other (PyTorch's and NumPy's roll).
template <size_t Axis, Shape S>
constexpr symbol<S> roll(symbol<S> x, std::ptrdiff_t shift) {
    static_assert(tensor_has_axis<S, Axis>,
                  "castnet: roll: the tensor has no such axis; see tensor_has_axis<shape, axis>");
    if constexpr (tensor_has_axis<S, Axis>) {
        constexpr auto extent = static_cast<std::ptrdiff_t>(S::extent[Axis]);
        auto const first = static_cast<size_t>((extent - shift % extent) % extent);
        if (first == 0) {
            return x;
        }
        detail::run_of_positions const runs[] = {{first, S::extent[Axis]}, {0, first}};
        return detail::joined_runs<Axis, S::extent[Axis]>(x, runs, 2);
    } else {
        return x;
    }
}

// The positions of an axis that `ids` names, which are the same for all samples:
// take<0>(x, std::array{2, 0, 2}), as numpy.take. Each run of neighbours is a slice, so they have
// 256 runs at most; but of a parameter and what is computed of parameters, many are gathered if
// they lie in a lattice, first + a i + b j + … with i < I, j < J, …: those at which Swin's
// attention reads its table of relative places. (gather_rows takes ids of each sample.)
template <size_t Axis, Shape S, std::integral Id, size_t Count>
constexpr auto take(symbol<S> x, std::array<Id, Count> const& ids) {
    static_assert(tensor_has_axis<S, Axis>,
                  "castnet: take: the tensor has no such axis; see tensor_has_axis<shape, axis>");
    static_assert(Count > 0, "castnet: take: there are no positions");
    if constexpr (tensor_has_axis<S, Axis> && Count > 0) {
        detail::run_of_positions runs[Count]{};
        int last = -1;
        for (Id const id : ids) {
            bool const right = std::cmp_greater_equal(id, 0) && std::cmp_less(id, S::extent[Axis]);
            x.g->expect(right, mistake::position_beyond_axis);
            size_t const place = right ? static_cast<size_t>(id) : 0;
            if (last < 0 || runs[last].end != place) {
                runs[++last] = {place, place};
            }
            ++runs[last].end;
        }
        if (last >= ir::max_operands && !detail::any_of_samples(x)) {
            if (auto const lattice = detail::lattice_of(ids.data(), Count); lattice.axes > 0) {
                return detail::gathered<Axis, Count>(x, lattice);
            }
        }
        constexpr int most = 256;
        x.g->expect(last < most, mistake::too_many_runs);
        return detail::joined_runs<Axis, Count>(x, runs, std::min(last + 1, most));
    } else {
        return x;
    }
}

template <class Ids>
struct takes_positions {
    static_assert(detail::never<Ids>,
                  "castnet: take of a symbol: the positions are known while compiling, take<0>(x, "
                  "std::array{2, 0}); rows by the ids of each sample are cn::gather_rows(x, ids); "
                  "see takes_positions<type found>");
    static constexpr bool checked = true;
};
template <size_t Axis, Shape S, class Ids> // a mistake
constexpr auto take(symbol<S> x, Ids const&) {
    static_assert(takes_positions<Ids>::checked);
    return x;
}

} // namespace castnet
