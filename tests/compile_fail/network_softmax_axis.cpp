// An axis for softmax, which compilers take for a comparison.
// expect: castnet: this function works along the last axis
// expect: works_along_last_axis<.*"log_softmax\(transpose\(x\)\)"
#include <castnet/castnet.hpp>

#include <cstdio>

namespace cn = castnet;

struct over_rows {
    constexpr auto operator()(auto x) const { return cn::log_softmax<0>(x); }
};
using net = cn::sequential<cn::input<4, 5>, over_rows{}>;

auto count = net::parameter_count;
