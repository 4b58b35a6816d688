// A model does not train itself.
// expect: castnet: a model has parameters only; auto training = cn::compile\(model, loss, optimizer\) has fit\(\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto history = model.fit(cn::data::blobs<2, 3>(16, 1),
                         {.epochs = 3, .validation = cn::data::blobs<2, 3>(16, 2)});
