// A model does not evaluate itself.
// expect: castnet: a model has parameters only; auto training = cn::compile\(model, loss, optimizer\) has fit\(\) and evaluate\(\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto scores = model.evaluate(cn::data::blobs<2, 3>(16, 1));
