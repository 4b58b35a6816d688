// The text of einsum is a template argument.
// expect: castnet: shapes are known while compiling, so axes, extents and counts stand before the tensors
// expect: is_written<.*einsum<text>\(x\.\.\.\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct twice {
    constexpr auto operator()(auto x) const { return cn::einsum("ij,kj->ik", x, x) | cn::dense<2>; }
};
using net = cn::network<twice{}, cn::input<3, 4>>;

auto count = net::parameter_count;
