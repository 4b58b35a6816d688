// A model has no functions of files.
// expect: castnet: what is done with a model are functions: .*cn::save\(model, file\), cn::load\(model, file\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

void save(cn::model<net, cn::policy::cpu, cn::batch<8>> const& model) {
    model.save("model.safetensors");
    model.save_weights("model.safetensors");
}
