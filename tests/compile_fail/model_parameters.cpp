// PyTorch's list of parameters.
// expect: castnet: parameters have names: model\.get\("0\.weight"\)
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

void print(cn::model<net, cn::policy::cpu, cn::batch<8>>& model) {
    for (auto& p : model.parameters()) {
        cn::save(p, "file.safetensors");
    }
}
