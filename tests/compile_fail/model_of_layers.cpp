// A layer is no network.
// expect: castnet: the first argument of cn::model is not a network; it is a type, cn::sequential<cn::input<...>, layers...>
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct net {};

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
