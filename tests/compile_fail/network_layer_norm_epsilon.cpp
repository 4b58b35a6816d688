// What is added to a variance is a number.
// expect: castnet: batch_norm, layer_norm and other normalisations: the epsilon, of local_response_norm alpha, beta and k, must be finite and not negative
#include <castnet/castnet.hpp>

#include <limits>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>,
                           cn::layer_norm.with_epsilon(std::numeric_limits<double>::infinity())>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
