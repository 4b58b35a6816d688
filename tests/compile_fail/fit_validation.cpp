// Validation is a data set, not the part of one that Keras' validation_split names.
// expect: castnet: the validation of a fit is a data set, such as the second part of data.split\(0.8\)
// expect: validation_is<.*double
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
auto history = training.fit(cn::data::blobs<2, 3>(16, 1), {.epochs = 3, .validation = 0.2});
