// dense, softmax and log_softmax against PyTorch.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/dense.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::against_golden, check::run_of, cn::shape;

TEST_CASE("a product over the last axis") {
    against_golden(run_of<cn::dense<5>, shape<6>>(), "linear");
    against_golden(run_of<cn::dense<5>, shape<3, 6>>(), "linear_time_features");
}

TEST_CASE("softmax over the last axis, or the channels of an image") {
    against_golden(run_of<cn::softmax, shape<10>>(), "softmax");
    against_golden(run_of<cn::softmax, shape<6, 5>>(), "softmax_last_axis");
    against_golden(run_of<cn::softmax, shape<3, 7, 8>>(), "softmax_channels");
    against_golden(run_of<cn::log_softmax, shape<10>>(), "log_softmax");
}

TEST_CASE("softmax of numbers whose exponential overflows") {
    auto r = run_of<cn::softmax, shape<3>, true, 1>();
    r.set_input({2000, 2000, -2000});
    r.set_grad_output({1, 0, 0});
    r.run();
    check::close("output", r.output(), {0.5, 0.5, 0}, 1e-13);
    check::close("gradient", r.grad_input(), {0.25, -0.25, 0}, 1e-13);
}
