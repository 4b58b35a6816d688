// A standard deviation is not negative.
// expect: castnet: the number of an initialiser must be finite, and that of random_uniform and random_normal not negative
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>.init(cn::random_normal(-0.1F))>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
