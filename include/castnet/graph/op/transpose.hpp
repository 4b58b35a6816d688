// Transposition: exchange of axes, as the elements lie in memory.
#pragma once

#include <castnet/graph/arrays.hpp>
#include <castnet/graph/differentiation.hpp>
#include <castnet/graph/traced.hpp>

namespace castnet {

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
