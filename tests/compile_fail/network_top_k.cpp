// There are at least K classes.
// expect: castnet: top_k: K is 0 or larger than the number of classes
// expect: k_within_classes<5(UL)?, 3(UL)?>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::dense<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::top_k<5>);
