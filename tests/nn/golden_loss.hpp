// Comparison of a loss with PyTorch's: of each of four samples, their weighted mean, its gradient.
#pragma once

#include "harness.hpp"

#include <string>

namespace check {

// The file has the prediction, the target and the results under this name.
template <class Network>
void golden_loss(golden_file const& file, std::string const& name, values weight,
                 double tolerance) {
    CAPTURE(name);
    auto r = layer_run::of<Network, true, 4>();
    r.set_input(file[name + "/prediction"], 0);
    r.set_input(file[name + "/target"], 1);
    double sum = 0;
    for (double const w : weight) {
        sum += w;
    }
    for (double& w : weight) {
        w /= sum;
    }
    r.set_grad_output(weight);
    r.run();
    values const per_sample = r.output();
    double loss = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        loss += weight[i] * per_sample[i];
    }
    close("per sample", per_sample, file[name + "/per_sample"], tolerance);
    close("loss", {loss}, file[name + "/loss"], tolerance);
    close("gradient", r.grad_input(), file[name + "/grad"], tolerance);
}

} // namespace check
