// policy::model_parallel has a header of its own.
// expect: castnet: policy::model_parallel needs #include <castnet/policy/model_parallel.hpp>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::model_parallel<cn::policy::cpu, 2>, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
