// Metrics are arguments, not a list.
// expect: castnet: compile\(model, loss, optimizer, metrics\.\.\.\): metrics stand in no braces
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, {cn::accuracy, cn::top_k<2>});
