// evaluate takes a data set.
// expect: castnet: evaluate takes a data set: training\.evaluate\(cn::data::of_tensors\(x, y\)\)
// expect: evaluate_takes<.*vector<float.*vector<int
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
auto scores = training.evaluate(std::vector<float>(48), std::vector<int>(16));
