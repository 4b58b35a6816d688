// A convolutional LSTM goes through images.
// expect: castnet: conv_lstm2d needs a sequence of images \(channels, time, height, width\)
// expect: is_image_sequence<.*shape<3, ?8, ?8>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3, 8, 8>, cn::conv_lstm2d<4, 3>>;

auto count = net::parameter_count;
