// There is one optimizer.
// expect: castnet: compile\(model, loss, optimizer, metrics\.\.\.\): an optimizer is given where a metric belongs
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::sgd{});
auto history = training.fit(cn::data::blobs<2, 3>(16, 1), {.epochs = 3});
