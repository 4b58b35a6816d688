// Losses, optimizers and metrics are objects.
// expect: castnet: compile\(model, loss, optimizer, metrics\.\.\.\) takes objects, not names in quotes
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, "mse", "adam");
auto history = training.fit(cn::data::blobs<2, 3>(16, 1),
                            {.epochs = 3, .validation = cn::data::blobs<2, 3>(16, 2)});
