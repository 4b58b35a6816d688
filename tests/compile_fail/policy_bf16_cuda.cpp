// What is rounded on a GPU needs its header.
// expect: castnet: policy::cuda and its variants need #include <castnet/cuda.hpp>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::bf16<cn::policy::cuda>, cn::batch<8>> model;
