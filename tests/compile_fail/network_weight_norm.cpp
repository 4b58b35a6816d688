// A transposed convolution has rows of input channels.
// expect: castnet: weight_norm takes one of the layers dense, conv1d, conv2d and conv3d; see has_weight_matrix<layer, input shape>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3, 8, 8>, cn::weight_norm<cn::conv_transpose2d<4, 3>>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
