// A network without batch normalisation and the like has no statistics.
// expect: castnet: update_statistics: no layer of the network has statistics, such as the running means of batch_norm
// expect: has_statistics<
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<2>, cn::dense<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});

void update() {
    training.update_statistics(cn::data::blobs<3, 2>(16, 1));
}
