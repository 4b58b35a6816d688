// dense, softmax and log_softmax against PyTorch; tied_dense.
#include <castnet/nn/activations.hpp>
#include <castnet/nn/dense.hpp>
#include <castnet/nn/permute.hpp>
#include <castnet/nn/reshape.hpp>
#include <castnet/nn/tied_dense.hpp>

#include "harness.hpp"

#include <limits>

namespace cn = castnet;
using check::against_finite_differences, check::against_golden, check::run_of, cn::shape;

namespace {

// There and back with the same weight.
template <std::size_t Features>
inline constexpr auto tied =
    cn::block<cn::shared<"code", cn::dense<3>>, cn::shared<"code", cn::tied_dense<Features>>>;

// The elements of an input as they come out.
void comes_back_by_transposed_weight(check::layer_run r) {
    std::size_t const count = r.input().size() / 2, units = 3;
    check::values const x = check::random_values(2 * count, 1),
                        weight = check::random_values(units * count, 2),
                        bias = check::random_values(units, 3),
                        tied_bias = check::random_values(count, 4);
    r.set_input(x);
    r.set("code.weight", weight);
    r.set("code.bias", bias);
    r.set("code.tied_bias", tied_bias);
    r.run();
    check::values expected;
    for (std::size_t sample = 0; sample < 2; ++sample) {
        check::values y = tied_bias;
        for (std::size_t u = 0; u < units; ++u) {
            double code = bias[u];
            for (std::size_t f = 0; f < count; ++f) {
                code += weight[u * count + f] * x[sample * count + f];
            }
            for (std::size_t f = 0; f < count; ++f) {
                y[f] += weight[u * count + f] * code;
            }
        }
        expected.insert(expected.end(), y.begin(), y.end());
    }
    check::close("output", r.output(), expected, 1e-12);
}

} // namespace

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

TEST_CASE("softmax over another axis") {
    using cn::permute;
    constexpr auto first = cn::softmax.along<0>;
    constexpr auto second = cn::softmax.along<1>;
    constexpr auto log_first = cn::log_softmax.along<0>;
    against_golden(run_of<cn::block<permute<1, 0>, first, permute<1, 0>>, shape<6, 5>>(),
                   "softmax_last_axis");
    against_golden(run_of<cn::block<permute<1, 0, 2>, second, permute<1, 0, 2>>, shape<3, 7, 8>>(),
                   "softmax_channels");
    against_golden(run_of<log_first, shape<10>>(), "log_softmax");

    auto r = run_of<first, shape<2, 3>, true, 1>();
    double const inf = std::numeric_limits<double>::infinity();
    r.set_input({2000, -inf, 1, 2000, -inf, 1}); // nothing is left of the second column
    r.set_grad_output({1, 1, 1, 0, 0, 0});
    r.run();
    check::close("output", r.output(), {0.5, 0, 0.5, 0.5, 0, 0.5}, 1e-13);
    check::close("gradient", r.grad_input(), {0.25, 0, 0.25, -0.25, 0, -0.25}, 1e-13);
}

TEST_CASE("softmax of numbers whose exponential overflows") {
    auto r = run_of<cn::softmax, shape<3>, true, 1>();
    r.set_input({2000, 2000, -2000});
    r.set_grad_output({1, 0, 0});
    r.run();
    check::close("output", r.output(), {0.5, 0.5, 0}, 1e-13);
    check::close("gradient", r.grad_input(), {0.25, -0.25, 0}, 1e-13);
}

TEST_CASE("tied_dense multiplies with the transposed weight") {
    comes_back_by_transposed_weight(run_of<tied<5>, shape<5>, true, 2>());
    comes_back_by_transposed_weight(run_of<tied<40>, shape<40>, true, 2>());
    comes_back_by_transposed_weight( // which has the order of the image
        run_of<cn::block<cn::flatten, tied<24>>, shape<2, 3, 4>, true, 2>());
    against_finite_differences(run_of<tied<5>, shape<5>>());
    against_finite_differences(run_of<tied<5>, shape<2, 5>>());
    against_finite_differences(
        run_of<cn::block<cn::flatten, tied<12>, cn::reshape<2, 2, 3>>, shape<2, 2, 3>>());
}
