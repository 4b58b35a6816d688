// A cell returns a carry for every initial value.
// expect: castnet: scan: the cell must return as many carries as there are initial values
// expect: as_many_carries<2, 1>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct loses_one {
    constexpr auto operator()(auto x) const {
        return cn::scan(x, cn::shape<2>{}, cn::shape<2>{},
                        [](auto x_t, auto h, auto) { return x_t + h; })
            .outputs;
    }
};
using net = cn::network<loses_one{}, cn::input<6, 2>>;

auto count = net::parameter_count;
