// A model is no function.
// expect: castnet: a model is no function of its inputs: model\.predict\(x\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto scores = model(std::vector<float>(3));
