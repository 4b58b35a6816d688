// Layers find the number of their features by themselves, metrics that of their classes.
// expect: castnet: this layer or metric takes no arguments in <>
// expect: layer_takes_no_arguments<.*batch_norm_layer
// expect: layer_takes_no_arguments<.*macro_f1_metric
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<8>, cn::batch_norm<8>, cn::relu, cn::dense<2>>;

auto count = net::parameter_count;
auto metric = cn::macro_f1<3>;
