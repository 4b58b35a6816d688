// A confusion matrix has as many classes as the network has outputs.
// expect: castnet: confusion_matrix<classes> needs as many classes
// expect: as_many_classes<5(UL)?, 3(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::confusion_matrix<5>);
