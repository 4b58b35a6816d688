// A prediction has no batch whose mean means anything.
// expect: castnet: batch_mean\(\) and batch_sum\(\) are of the batch of a training step: where they stand in a layer, if \(x.g->trains\(\)\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

struct centring {
    constexpr auto operator()(auto x) const { return x - cn::batch_mean(x); }
};
using net = cn::sequential<cn::input<4>, cn::dense<4>, centring{}>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
