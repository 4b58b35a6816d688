// The axis of concatenate is a template argument.
// expect: castnet: shapes are known while compiling, so axes, extents and counts stand before the tensors
// expect: is_written<.*concatenate<axis>\(x, y\.\.\.\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct twice {
    constexpr auto operator()(auto x) const { return cn::concatenate(x, x, 0) | cn::dense<2>; }
};
using net = cn::network<twice{}, cn::input<3, 4>>;

auto count = net::parameter_count;
