// A repeated block is on one device.
// expect: castnet: all layers of a block of repeat<N, block> must be on one device
#include <castnet/castnet.hpp>
#include <castnet/policy/model_parallel.hpp>

namespace cn = castnet;

using block = cn::block_layer<cn::dense<5>, cn::on<1, cn::dense<5>>>;
using net = cn::sequential<cn::input<5>, cn::repeat<3, block{}>>;

cn::model<net, cn::policy::model_parallel<cn::policy::cpu, 2>, cn::batch<8>> model;
