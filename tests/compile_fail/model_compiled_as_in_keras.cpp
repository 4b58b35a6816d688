// A training is made of a model.
// expect: castnet: what is done with a model are functions: cn::compile\(model, loss, optimizer\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = model.compile(cn::cross_entropy, cn::adam{});
