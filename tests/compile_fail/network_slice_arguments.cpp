// Positions of a slice are template arguments.
// expect: castnet: shapes are known while compiling, so axes, extents and counts stand before the tensors
// expect: is_written<.*slice<axis, begin, end>\(x\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct twice {
    constexpr auto operator()(auto x) const { return cn::slice(x, 0, 2) | cn::dense<2>; }
};
using net = cn::network<twice{}, cn::input<3, 4>>;

auto count = net::parameter_count;
