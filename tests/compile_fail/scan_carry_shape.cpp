// A carry has the same shape in every step.
// expect: castnet: scan: a carry changes its shape from one step to the next
// expect: carry_keeps_shape<.*shape<4>, .*shape<3>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct grows {
    constexpr auto operator()(auto x) const {
        return cn::scan(x, cn::shape<4>{}, [](auto, auto h) { return h | cn::dense<3>; }).last;
    }
};
using net = cn::network<grows{}, cn::input<6, 2>>;

auto count = net::parameter_count;
