// Networks beside the cases of attention.safetensors.
#pragma once

#include <castnet/nn/network.hpp>

#include "harness.hpp"

namespace check {

// A case with inputs "input", "input1", …
template <class Network>
void like_torch(std::string const& name) {
    layer_run r = layer_run::of<Network, true, 4>();
    golden_file const golden{"attention"};
    for (std::size_t i = 1; i < r.inputs(); ++i) {
        r.set_input(golden[name + "/input" + std::to_string(i)], i);
    }
    against_golden(std::move(r), name, 1e-11, "attention");
}

} // namespace check
