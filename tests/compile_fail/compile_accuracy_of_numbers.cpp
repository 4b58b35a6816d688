// Accuracy counts class numbers.
// expect: castnet: a metric compares with class numbers and the loss with real numbers, or the other way round
// expect: arguments_of_compile<.*mse_loss, .*adam, .*accuracy_metric>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<1>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::mse, cn::adam{}, cn::accuracy);
auto history = training.fit(cn::data::blobs<2, 3>(16, 1), {.epochs = 3});
