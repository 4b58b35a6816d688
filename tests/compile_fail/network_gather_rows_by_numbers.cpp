// Numbers in place of ids.
// expect: castnet: gather_rows takes a table of two axes and ids
// expect: gathers_rows<.*shape<3[^,]*, .*shape<8
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct rows {
    constexpr auto operator()(auto x) const {
        return cn::gather_rows(cn::new_parameter<cn::shape<8, 2>>(*x.g, "table", {}), x);
    }
};
using net = cn::sequential<cn::input<3>, rows{}>;

auto count = net::parameter_count;
