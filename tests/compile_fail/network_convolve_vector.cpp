// A layer of one's own convolves images and sequences.
// expect: castnet: convolve\(\) needs an image \(channels, height, width\)
// expect: slides_over<.*shape<9>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct convolution {
    constexpr auto operator()(auto x) const {
        auto const weight =
            cn::new_parameter<cn::shape<2, 1, 3, 3>>(*x.g, "weight", {cn::role::conv_weight});
        constexpr auto window = cn::make_window(1, 3, 3, 2, 3, 1, cn::valid, 1, 1);
        return cn::convolve<cn::shape<2, 1, 1>>(x, weight, window);
    }
};
using net = cn::sequential<cn::input<9>, convolution{}>;

auto count = net::parameter_count;
