// A layer with two weights has no norm for both.
// expect: castnet: weight_norm takes dense, depthwise_conv2d, conv1d, conv2d, conv3d or their transposed ones, and separable_conv2d<4, 3> is depthwise_conv2d<3> and conv2d<4, 1>; see has_weight_matrix<layer, input shape>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3, 8, 8>, cn::weight_norm<cn::separable_conv2d<4, 3>>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
