// Every column of scores and histories has a name of its own.
// expect: castnet: two metrics have the same name
// expect: column_is_unique<.*huber
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::mse, cn::adam{}, cn::huber<1.0F>, cn::huber<2.0F>);
