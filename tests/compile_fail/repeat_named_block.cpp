// Repetitions are told apart by their positions.
// expect: castnet: two parameters of the network have the same name
// expect: parameter_name_is_unique<.*
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5>, cn::repeat<3, cn::named<"part", cn::dense<5>>>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
