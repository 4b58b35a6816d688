// Positions that only the program knows.
// expect: castnet: take of a symbol: the positions are known while compiling
// expect: takes_positions<.*symbol<.*ids<4
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct chosen {
    constexpr auto operator()(auto x, auto ids) const { return cn::take<0>(x, ids); }
};
using net = cn::network<chosen{}, cn::input<4, 2>, cn::input_ids<4, 3>>;

auto count = net::parameter_count;
