// predict_one writes its output where it is told.
// expect: castnet: predict_one takes the numbers of each input of the network, and then where to
// expect: predict\(input\) returns them
// expect: arguments_of_predict_one<2, 1>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto scores = model.predict_one(std::vector<float>(3));
