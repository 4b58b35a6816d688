// Layers compute with symbols.
// expect: castnet: x \| layer is for the symbols of a network: a tensor goes through a model
// expect: layer_takes_symbols<.*dense_layer<10
#include <castnet/castnet.hpp>

namespace cn = castnet;

int main() {
    cn::tensor<float, cn::shape<2, 3>> a;
    auto const hidden = a | cn::dense<10>;
}
