// Keras takes the weights of classes as a dictionary.
// expect: castnet: the class_weight of a fit is a factor for each class, in their order: \{\.class_weight = \{1, 1, 2\}\}
#include <castnet/castnet.hpp>

#include <map>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto training = cn::compile(model, cn::cross_entropy, cn::adam{});
auto history = training.fit(cn::data::blobs<2, 3>(16, 1),
                            {.class_weight = std::map<int, float>{{0, 1.F}, {1, 2.F}}});
