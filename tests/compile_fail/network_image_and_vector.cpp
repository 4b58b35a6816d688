// A vector is not a row of an image.
// expect: castnet: an image combines element by element only with images \(channels, height, width\) and numbers
// expect: orders_agree<.*shape<5>, .*shape<3, ?5, ?5>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct sum {
    constexpr auto operator()(auto image, auto vector) const { return image + vector; }
};
using net = cn::network<sum{}, cn::input<3, 5, 5>, cn::input<5>>;

auto count = net::parameter_count;
