// Images are not stacked.
// expect: castnet: stack: the tensors must have the same shape, must not be images, and need the axes before the new one
// expect: can_stack<0[^,]*, .*shape<3, ?4, ?4>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct piled {
    constexpr auto operator()(auto x) const { return cn::stack<0>(x, x); }
};
using net = cn::sequential<cn::input<3, 4, 4>, piled{}>;

auto count = net::parameter_count;
