// The number of an activation is no argument of its call.
// expect: castnet: the number of an activation is set by a member function
// expect: number_is_set<.*"leaky_relu.slope\(0.2\)\(x\)"
// expect: number_is_set<.*"elu.alpha\(0.5\)\(x\)"
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct as_in_pytorch {
    constexpr auto operator()(auto x) const { return cn::elu(cn::leaky_relu(x, 0.2), 0.7); }
};
using net = cn::network<as_in_pytorch{}, cn::input<6>>;

auto count = net::parameter_count;
