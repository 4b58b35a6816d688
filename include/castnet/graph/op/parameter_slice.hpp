// Slices of a parameter: some of the units of a dense weight or of its bias.
#pragma once

#include <castnet/graph/differentiation.hpp>

namespace castnet {

// Rows First to First + Count - 1 of a parameter of role::dense_weight (units, features), for
// matmul(); or so many elements of one of role::vector and a single axis. For what several layers
// of other frameworks keep in one tensor.
template <size_t First, size_t Count, size_t Units, size_t... Features>
    requires(First + Count <= Units && Count > 0 && sizeof...(Features) <= 1)
constexpr auto parameter_slice(symbol<shape<Units, Features...>> x) {
    using part = shape<Count, Features...>;
    if constexpr (Count == Units) {
        return x;
    } else {
        ir::node n = ir::graph::shaped<part>(op::parameter_slice, false);
        n.attribute = static_cast<int>(First);
        n.in[n.operands++] = x.id;
        return emit<part>(*x.g, n);
    }
}

template <>
struct operation<op::parameter_slice> {
    static constexpr char const* name = "parameter_slice";
    static constexpr operation_traits traits{.reads_attribute = true};
    static constexpr void gradient(ir::differentiation& d, int i, int g) {
        int const x = d.at(i).in[0];
        d.accumulate(x, d.emit<op::parameter_slice_gradient>(x, d.at(i).attribute, g));
    }
};
template <>
struct operation<op::parameter_slice_gradient> {
    static constexpr char const* name = "parameter_slice_gradient";
    static constexpr operation_traits traits{.reads_attribute = true, .stores_bf16 = false};
};

namespace ir {

// A parameter in memory: rows of units. Of a dense weight (units, features) these lie innermost, as
// those of a vector do.
CASTNET_HD constexpr extents units_in_memory(extents const& parameter) {
    return parameter.pixels == 1 ? parameter : extents{false, parameter.channels, parameter.pixels};
}

} // namespace ir
} // namespace castnet
