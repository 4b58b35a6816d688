// So has what it is mirrored of.
// expect: castnet: policy::cuda and its variants need #include <castnet/cuda.hpp>
#include <castnet/castnet.hpp>
#include <castnet/policy/mirrored.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::mirrored<cn::policy::cuda, 2>, cn::batch<8>> model;
