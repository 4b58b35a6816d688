// What has no weight of its own has no singular value.
// expect: castnet: spectral_norm takes one of the layers dense, conv1d, conv2d and conv3d; see has_weight_matrix<layer, input shape>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3, 8, 8>, cn::spectral_norm<cn::conv_transpose2d<4, 3>>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
