// repeat_vector takes a vector, not a sequence.
// expect: castnet: repeat_vector needs a vector \(features\), and at least one step; see becomes_steps
#include <castnet/castnet.hpp>

namespace cn = castnet;

using network =
    cn::sequential<cn::input<6, 4>, cn::lstm<8>.return_sequences(), cn::repeat_vector<3>>;
static_assert(network::parameter_count == 0);

int main() {}
