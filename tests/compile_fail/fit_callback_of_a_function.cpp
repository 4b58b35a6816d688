// A function becomes a callback by a class that says when it is called.
// expect: castnet: a callback of fit has at least one of begin_fit.*cn::on_epoch_end\{f\} and cn::on_step_end\{f\}
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
auto history =
    training.fit(cn::data::blobs<2, 3>(16, 1), {.callbacks = {[](cn::epoch_report&) {}}});
