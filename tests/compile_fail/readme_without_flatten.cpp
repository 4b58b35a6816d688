// What the README quotes.
// expect: castnet: dense needs a vector \(features\) or a sequence \(time, features\); put cn::flatten before it
// expect-clang: error: static assertion failed due to requirement 'dense_takes<castnet::shape<64, 3, 3>>'
// expect-clang: at_layer<8, castnet::dense_layer<64>>::operator\(\)<castnet::symbol<castnet::shape<64, 3, 3>>>
#include <castnet/castnet.hpp>

namespace cn = castnet;

// clang-format off
using zalando = cn::sequential<
    cn::input<1, 28, 28>,
    cn::conv2d<32, 3>, cn::relu, cn::max_pool2d<2>,
    cn::conv2d<64, 3>, cn::relu, cn::max_pool2d<2>,
    cn::conv2d<64, 3>, cn::relu,
    cn::dense<64>, cn::relu, cn::dense<10>>;
// clang-format on

auto count = zalando::parameter_count;
