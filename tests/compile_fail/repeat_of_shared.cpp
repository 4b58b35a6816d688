// Every repetition of a block has parameters of its own.
// expect: castnet: a block of repeat<N, block> has parameters of its own in every repetition
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5>, cn::repeat<3, cn::shared<"twin", cn::dense<5>>>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
