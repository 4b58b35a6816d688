// One-hot targets have a loss of their own.
// expect: castnet: the loss or metric takes class numbers.*cn::categorical_cross_entropy
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<4>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
auto history = training.fit(
    cn::data::dataset<cn::shape<4>, cn::shape<3>>{std::vector<float>(6), std::vector<float>(8)});
