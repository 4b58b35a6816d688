// Layers become one layer in a block.
// expect: castnet: layer \| layer: a layer of several layers is cn::block<cn::dense<8>, cn::relu>
// expect: layers_stand_in_a_block<.*dense_layer<8
#include <castnet/castnet.hpp>

namespace cn = castnet;

constexpr auto hidden = cn::dense<8> | cn::relu;
using net = cn::sequential<cn::input<3>, hidden, cn::dense<2>>;

auto count = net::parameter_count;
