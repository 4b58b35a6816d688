// Numbers have the model's element type.
// expect: castnet: predict takes a data set or, for each input of the network, the numbers of its samples
// expect: predict_takes<float, .*vector<double
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> const model;
auto prediction = model.predict(std::vector<double>{1, 2, 3});
