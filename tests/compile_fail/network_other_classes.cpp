// As many outputs as classes.
// expect: castnet: the network needs as many outputs as the labels have classes
// expect: outputs_and_classes<10(UL)?, 5(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<10>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
auto history = training.fit(cn::data::blobs<5, 3>(16, 1));
