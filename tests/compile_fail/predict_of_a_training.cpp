// A model predicts, not its training.
// expect: castnet: it is the model that predicts: model.predict
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
auto scores = training.predict(cn::data::blobs<2, 3>(16, 1));
