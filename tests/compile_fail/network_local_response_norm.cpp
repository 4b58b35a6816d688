// The numbers of a local response normalisation are not negative.
// expect: castnet: batch_norm, layer_norm and other normalisations: the epsilon, of local_response_norm alpha, beta and k, must be finite and not negative
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 5, 5>, cn::local_response_norm<5>.with_alpha(-1)>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
