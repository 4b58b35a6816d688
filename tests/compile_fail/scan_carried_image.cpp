// A carry that is an image keeps its size in every step.
// expect: castnet: scan: a carry changes its shape from one step to the next
// expect: carry_keeps_shape<.*shape<4, ?6, ?6>.*shape<4, ?4, ?4>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct shrinks {
    constexpr auto operator()(auto x) const {
        return cn::scan(x, cn::shape<4, 6, 6>{}, [](auto, auto h) { return h | cn::conv2d<4, 3>; })
            .last;
    }
};
using net = cn::network<shrinks{}, cn::input<1, 5, 6, 6>>;

auto count = net::parameter_count;
