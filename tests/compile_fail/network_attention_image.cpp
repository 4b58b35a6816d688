// An image is no sequence.
// expect: castnet: attention needs sequences: queries \(time, features\), keys and values of one length
// expect: attends<2(UL)?, .*shape<4, 5, 6>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct to_itself {
    constexpr auto operator()(auto x) const { return cn::attention<2>(x, x, x); }
};
using net = cn::network<to_itself{}, cn::input<4, 5, 6>>;

auto count = net::parameter_count;
