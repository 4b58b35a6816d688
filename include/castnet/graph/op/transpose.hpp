// Transposition: exchange of axes, as the elements lie in memory.
#pragma once

#include <castnet/graph/differentiation.hpp>
#include <castnet/graph/traced.hpp>

namespace castnet {

namespace detail {

// The window of an exchange: every `channels` neighbours stay together, and of matrices of such,
// (height x width), one after the other, rows become columns.
constexpr ir::window exchange(int rows, int columns, int together) {
    ir::window w;
    w.channels = w.filters = together;
    w.height = w.out_width = rows;
    w.width = w.out_height = columns;
    return w;
}

} // namespace detail

template <>
struct operation<op::transpose> {
    static constexpr char const* name = "transpose";
    static constexpr operation_traits traits{.windowed = true};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        ir::window const w = d.nodes().windows[d.at(i).attribute];
        int const back = d.nodes().add_window(detail::exchange(w.width, w.height, w.channels));
        d.accumulate(d.at(i).in[0], d.emit<op::transpose>(d.at(i).in[0], back, g));
    }
};

} // namespace castnet
