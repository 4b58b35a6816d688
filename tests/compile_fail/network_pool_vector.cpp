// A layer of one's own pools images and sequences.
// expect: castnet: pool\(\) needs an image \(channels, height, width\)
// expect: slides_over<.*shape<9>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct pooling_layer {
    constexpr auto operator()(auto x) const {
        constexpr auto window = cn::make_window(1, 3, 3, 1, 3, 1, cn::valid, 1, 1);
        return cn::pool<cn::op::max_pool, cn::shape<1, 1, 1>>(x, window);
    }
};
using net = cn::sequential<cn::input<9>, pooling_layer{}>;

auto count = net::parameter_count;
