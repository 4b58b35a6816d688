// A cell takes the step and every carry.
// expect: castnet: scan: the cell cannot be called with a step of the sequence and the carries
// expect: cell_takes<.*symbol<.*shape<2> ?>, .*symbol<.*shape<3> ?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct step_only {
    constexpr auto operator()(auto x) const { return x; }
};
struct scans {
    constexpr auto operator()(auto x) const {
        return cn::scan(x, cn::shape<3>{}, step_only{}).outputs;
    }
};
using net = cn::network<scans{}, cn::input<6, 2>>;

auto count = net::parameter_count;
