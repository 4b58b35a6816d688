// A loop begins with something.
// expect: castnet: scan needs initial values before the cell, at least one
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct from_nothing {
    constexpr auto operator()(auto x) const {
        return cn::scan(x, [](auto x_t, auto h) { return x_t + h; }).outputs;
    }
};
using net = cn::network<from_nothing{}, cn::input<6, 2>>;

auto count = net::parameter_count;
