// Sums of the channels so far, from the first on or, as their gradient needs them, from the last.
#pragma once

#include <castnet/graph/differentiation.hpp>

namespace castnet {

template <>
struct operation<op::cumulative_sum> {
    static constexpr char const* name = "cumulative_sum";
    static constexpr operation_traits traits{.reads_attribute = true, .stores_bf16 = false};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        int const x = d.at(i).in[0];
        d.accumulate(x, d.emit<op::cumulative_sum>(x, -d.at(i).attribute, g));
    }
};

} // namespace castnet
