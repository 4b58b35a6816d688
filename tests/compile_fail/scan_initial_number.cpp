// What a loop begins with has a shape.
// expect: castnet: scan: every initial value is a symbol, or a shape for zeros
// expect: begins_a_carry<double>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct from_a_number {
    constexpr auto operator()(auto x) const {
        return cn::scan(x, 0.0, [](auto x_t, auto sum) { return x_t + sum; }).outputs;
    }
};
using net = cn::network<from_a_number{}, cn::input<6>>;

auto count = net::parameter_count;
