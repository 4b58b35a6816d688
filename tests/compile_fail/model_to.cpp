// PyTorch's move of a module.
// expect: castnet: a model lies where its policy says: cn::model<network, cn::policy::cuda, cn::batch<32>>
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<3>, cn::dense<2>>;

void move(cn::model<net, cn::policy::cpu, cn::batch<8>>& model) {
    model.to("cuda");
}
