// Samples of a batch are counted as an int.
// expect: castnet: a batch has less than 2\^31 samples
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<5'000'000'000>> model;
