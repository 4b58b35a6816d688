// Systems of linear equations in networks: of each sample, and of parameters that all share.
#include <castnet/nn/einsum.hpp>
#include <castnet/nn/initializers.hpp>
#include <castnet/nn/network.hpp>
#include <castnet/nn/recurrent.hpp>
#include <castnet/nn/tensor_functions.hpp>

#include "harness.hpp"

namespace cn = castnet;
using check::layer_run, check::random_values, check::run_of, check::values, cn::input,
    cn::row_major_shape, cn::shape;

namespace {

// L L' + 1
constexpr auto definite(auto x) {
    return cn::matmul_transposed(x, x) + cn::diag(0 * cn::diagonal(x) + 1);
}
struct factors {
    constexpr auto operator()(auto x) const { return cn::cholesky(definite(x)); }
};
struct solutions {
    constexpr auto operator()(auto x, auto b) const { return cn::solve(x, b); }
};
struct definite_solutions {
    constexpr auto operator()(auto x, auto b) const {
        auto const factor = cn::cholesky(definite(x));
        return cn::cholesky_solve(factor, b) + cn::solve_upper_triangular(definite(x), b);
    }
};
struct of_batches {
    constexpr auto operator()(auto x) const {
        auto const matrices = x | cn::reshape_to<row_major_shape<2, 3, 3>>;
        return cn::determinant(matrices) + cn::sum<1, 2>(cn::inverse(matrices));
    }
};
// The matrix of all samples, and the right side of all samples.
struct of_parameters {
    constexpr auto operator()(auto x) const {
        auto const scale = cn::new_parameter<shape<3>>(*x.g, "scale", {.start = cn::ones});
        auto const matrix = cn::diag(cn::exp(scale)) + 0.1;
        return cn::solve(matrix, x) + cn::solve(cn::diag(x + 3), scale) +
               cn::solve_lower_triangular(cn::cholesky(matrix), x) * cn::determinant(matrix);
    }
};

} // namespace

TEST_CASE("the solutions of small systems") {
    layer_run r = layer_run::of<cn::network<solutions{}, input<2, 2>, input<2>>, true, 2>();
    r.set_input({0, 2, 4, 1, 1, 0, 0, 1}, 0); // rows change places in the first one
    r.set_input({2, 9, 5, 7}, 1);
    r.set_grad_output({1, 0, 0, 1});
    r.run();
    CHECK(r.output() == values{2, 1, 5, 7});
    CHECK(r.grad_input(1) == values{-0.125, 0.25, 0, 1});
    CHECK(r.grad_input(0) == values{0.25, 0.125, -0.5, -0.25, 0, 0, -5, -7});
}

TEST_CASE("gradients of systems of linear equations in networks") {
    using check::against_finite_differences;
    against_finite_differences(run_of<factors{}, shape<4, 4>, true, 2>());
    against_finite_differences(
        layer_run::of<cn::network<definite_solutions{}, input<3, 3>, input<3, 2>>, true, 2>());
    against_finite_differences(run_of<of_batches{}, shape<6, 3>, true, 3>());
    against_finite_differences(run_of<of_parameters{}, shape<3>, true, 2>());
}
