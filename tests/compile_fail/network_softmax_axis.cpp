// An axis for softmax, which compilers take for a comparison.
// expect: castnet: softmax and log_softmax work along the last axis
// expect: softmax_axis_is_named<.*"log_softmax.along<0>\(x\)"
#include <castnet/castnet.hpp>

#include <cstdio>

namespace cn = castnet;

struct over_rows {
    constexpr auto operator()(auto x) const { return cn::log_softmax<0>(x); }
};
using net = cn::sequential<cn::input<4, 5>, over_rows{}>;

auto count = net::parameter_count;
