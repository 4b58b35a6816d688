// Samples have the shape of the network's input.
// expect: castnet: the inputs of the data set do not have the shapes of the network's inputs
// expect: inputs_fit<.*shape<3>.*, .*shape<4>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

cn::model<net, cn::policy::cpu, cn::batch<8>> model;
auto prediction = model.predict(cn::data::blobs<2, 4>(16, 1));
