// A network with a result for each step needs a label for each step.
// expect: castnet: the loss compares its prediction with another kind of target than the data set holds
// expect: target_fits<.*label<3[^,]*, ?5[^,]*>, .*label<3
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<5, 4>, cn::dense<3>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
auto history = training.fit(cn::data::dataset<cn::data::label<3>, cn::shape<5, 4>>{
    std::vector<float>(20), std::vector<int>{1}});
