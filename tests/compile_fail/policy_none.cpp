// A policy is more than a type of numbers.
// expect: castnet: this is not a policy such as cn::policy::cpu
// expect: is_policy<double>
// expect: is_policy<.*no_policy
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, double, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});

cn::model<net> of_a_network_alone;
