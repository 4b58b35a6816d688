// The loss comes before the optimizer.
// expect: castnet: compile\(model, loss, optimizer, metrics\.\.\.\): an optimizer is given where the loss belongs; the loss comes first
// expect: arguments_of_compile<.*adam, .*mse_loss>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::adam{}, cn::mse);
auto history = training.fit(cn::data::blobs<2, 3>(16, 1),
                            {.epochs = 3, .validation = cn::data::blobs<2, 3>(16, 2)});
