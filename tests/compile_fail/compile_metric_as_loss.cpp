// A metric that has no gradient is no loss.
// expect: castnet: compile\(model, loss, optimizer, metrics\.\.\.\): the loss has no gradient; cn::accuracy and the like are metrics
// expect: arguments_of_compile<.*accuracy_metric, .*adam, .*cross_entropy_loss<
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::accuracy, cn::adam{}, cn::cross_entropy);
auto history = training.fit(cn::data::blobs<2, 3>(16, 1), {.epochs = 3});
