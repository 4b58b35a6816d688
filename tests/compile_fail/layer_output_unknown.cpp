// An inner layer is found by its name or position.
// expect: castnet: output_of<name>\(model, samples\): the network has no layer of this name
// expect-clang: layer_is_there<false, .*"bdy".*"body, 1, head"
#include <castnet/castnet.hpp>

namespace cn = castnet;

using net = cn::sequential<cn::input<4>, cn::named<"body", cn::dense<8>>, cn::tanh,
                           cn::named<"head", cn::dense<3>>>;

int main() {
    cn::model<net, cn::policy::cpu, cn::batch<8>> model;
    cn::output_of<"bdy">(model, std::vector<float>(4));
}
