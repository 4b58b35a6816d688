// An optimizer is not left out.
// expect: castnet: compile\(model, loss, optimizer, metrics\.\.\.\): a loss or metric is given where the optimizer belongs, such as cn::adam\{\}
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::accuracy);
auto history = training.fit(cn::data::blobs<2, 3>(16, 1), {.epochs = 3});
