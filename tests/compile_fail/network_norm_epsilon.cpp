// What is added to a variance keeps it positive.
// expect: castnet: batch_norm, layer_norm and other normalisations: the epsilon, of local_response_norm alpha, beta and k, must be finite and not negative
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>, cn::batch_norm.with_epsilon(-1)>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
