// The model comes first.
// expect: castnet: save\(model, file\) and save\(training, file\): the file comes last
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

void write(cn::model<net, cn::policy::cpu, cn::batch<8>> const& model) {
    cn::save("model.safetensors", model);
}
