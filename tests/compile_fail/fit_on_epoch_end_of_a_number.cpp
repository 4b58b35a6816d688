// What fit calls after an epoch takes its report.
// expect: castnet: on_epoch_end is a function of the report of an epoch, by reference: \[\]\(cn::epoch_report& report\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
auto history =
    training.fit(cn::data::blobs<2, 3>(16, 1), {.on_epoch_end = [](int) { return true; }});
