// The classes that have weights are those of the prediction.
// expect: castnet: class_weighted<loss, classes>: the prediction has another number of classes
// expect: weighs_all_classes<4(UL)?, 3(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<6, 2>, cn::dense<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::class_weighted<cn::cross_entropy, 4>, cn::adam{});
