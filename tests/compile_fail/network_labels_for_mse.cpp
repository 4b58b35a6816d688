// A loss of real numbers does not take class numbers.
// expect: castnet: the loss compares its prediction with another kind of target than the data set holds
// expect: target_fits<.*shape<2>, .*label<2
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::mse, cn::adam{});
auto history = training.fit(cn::data::blobs<2, 3>(16, 1));
