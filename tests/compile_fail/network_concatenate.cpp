// Tensors that are joined differ along that axis only.
// expect: castnet: concatenate: the tensors have no such axis or differ in others, too
// expect: differ_along<0[^,]*, .*shape<4, ?2>, .*shape<4, ?3>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct joined {
    constexpr auto operator()(auto x, auto y) const { return cn::concatenate<0>(x, y); }
};
using net = cn::network<joined{}, cn::input<4, 2>, cn::input<4, 3>>;

auto count = net::parameter_count;
