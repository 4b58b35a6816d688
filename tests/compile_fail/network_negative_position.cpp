// Positions that count from the last one, as in Python.
// expect: castnet: slice: axes and positions count from the first, not from the last
// expect: counts_from_first<1, 0, -1>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct all_but_the_last {
    constexpr auto operator()(auto x) const { return cn::slice<1, 0, -1>(x); }
};
using net = cn::sequential<cn::input<4, 5>, all_but_the_last{}>;

auto count = net::parameter_count;
