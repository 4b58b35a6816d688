// batch_norm against PyTorch: outputs, gradients, running statistics, absent samples.
#include <castnet/nn/batch_norm.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::layer_run, check::run_of, check::values, cn::batch_norm, cn::shape;

namespace {

void running_statistics(layer_run const& r, std::string const& name) {
    static check::golden_file const golden{"layers"};
    for (std::string const statistic : {"running_mean", "running_var"}) {
        check::close(name + " " + statistic, r.parameter("0." + statistic),
                     golden[name + "/" + statistic + "_after"], 1e-14);
    }
}

// Puts the values of a case into the layer, runs it with three of the four samples, and compares.
void partial(layer_run r, std::string const& name) {
    static check::golden_file const golden{"layers"};
    auto const expected = [&](std::string const& what) { return golden[name + "/" + what]; };
    CAPTURE(name);
    values input = expected("input"), grad_output = expected("grad_output");
    std::size_t const present = grad_output.size();
    grad_output.resize(input.size());
    r.set_input(input);
    r.set_grad_output(grad_output);
    r.present({1, 0.5, 2, 0});
    for (std::string const w : {"weight", "bias"}) {
        r.set("0." + w, expected(w));
    }
    for (std::string const w : {"running_mean", "running_var"}) {
        r.set("0." + w, expected(w + "_before"));
    }
    r.run();
    values output = r.output();
    output.resize(present);
    check::close("output", output, expected("output"), 1e-12);
    check::close("grad_input", r.grad_input(), expected("grad_input"), 1e-12);
    check::close("grad_weight", r.gradient("0.weight"), expected("grad_weight"), 1e-12);
    check::close("grad_bias", r.gradient("0.bias"), expected("grad_bias"), 1e-12);
    running_statistics(r, name);
}

} // namespace

TEST_CASE("in training the statistics are those of the batch") {
    auto image = [] { return run_of<batch_norm, shape<3, 5, 6>>(); };
    check::against_golden(image(), "batch_norm");
    check::against_golden(run_of<batch_norm, shape<7>>(), "batch_norm_features");
}

TEST_CASE("in evaluation they are the running ones") {
    check::against_golden(run_of<batch_norm, shape<3, 5, 6>, false>(), "batch_norm_evaluation");
    check::against_golden(run_of<batch_norm, shape<7>, false>(), "batch_norm_features_evaluation");
}

TEST_CASE("a single value per channel changes no running variance, as it has none") {
    layer_run r = run_of<batch_norm, shape<2>>();
    r.set("0.running_mean", {4, 5});
    r.set("0.running_var", {2, 3});
    values input(r.input().size(), 9);
    r.set_input(input);
    values weights(input.size() / 2, 0);
    weights[1] = 1;
    r.present(weights);
    r.run();
    CHECK(r.parameter("0.running_var") == values{2, 3});
    check::close("running_mean", r.parameter("0.running_mean"), {4.5, 5.4}, 1e-14);
}

TEST_CASE("a sample of weight 0 is absent, and weights do not weigh the statistics") {
    partial(run_of<batch_norm, shape<3, 5, 6>>(), "batch_norm_partial");
    partial(run_of<batch_norm, shape<7>>(), "batch_norm_partial_features");
}
