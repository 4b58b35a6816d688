// Predictors are of models.
// expect: castnet: the argument of predictor<> and stateful_predictor<> is the type of a model
// expect: predicts_with_model<.*sequential<
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<8, 3>, cn::lstm<4>.return_sequences(), cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
cn::stateful_predictor<net> steps{model};
