// Layers are placed on devices that the policy has.
// expect: castnet: cn::on places layers on a device that the policy does not have
// expect: devices_exist<3, 2>
#include <castnet/castnet.hpp>
#include <castnet/policy/model_parallel.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<4>, cn::on<2, cn::dense<10>>>;

cn::model<net, cn::policy::model_parallel<cn::policy::cpu, 2>, cn::batch<8>> model;
