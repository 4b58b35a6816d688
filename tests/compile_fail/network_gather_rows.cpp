// The same for a table of the program's own.
// expect: castnet: there are ids beyond the rows of the table
// expect: rows_exist<.*ids<9[^,]*, ?4[^>]*>, .*shape<8
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct rows {
    constexpr auto operator()(auto x) const {
        return cn::gather_rows(cn::new_parameter<cn::shape<8, 2>>(*x.g, "table", {}), x);
    }
};
using net = cn::sequential<cn::input_ids<9, 4>, rows{}>;

auto count = net::parameter_count;
