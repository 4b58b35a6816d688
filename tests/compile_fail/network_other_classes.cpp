// As many outputs as classes.
// expect: castnet: the loss compares its prediction with another kind of target than the data set holds
// expect: target_fits<.*label<10(UL)?>, .*label<5(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<10>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
auto history = training.fit(cn::data::blobs<5, 3>(16, 1));
