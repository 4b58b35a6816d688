// The derived gradients of element-wise functions and reductions against finite differences.
#include <castnet/graph/derivative_formula.hpp>
#include <castnet/nn/activations.hpp>
#include <castnet/nn/tensor_functions.hpp>

#include "../nn/harness.hpp"

namespace cn = castnet;
namespace ir = castnet::ir;
using check::against_finite_differences, check::run_of, cn::shape;

namespace {

struct arithmetic {
    constexpr auto operator()(auto x) const {
        auto const a = 2 - x * x + x / 3, b = 1 / (cn::square(x) + 2);
        return cn::minimum(a, b) * cn::maximum(-a, 0.3) + cn::multiply_add(a, b, x) +
               cn::lerp(a, b, 0.25) - cn::abs(b - 0.4) + cn::clip(x, -0.3, 0.4) * x;
    }
};

struct transcendental {
    constexpr auto operator()(auto x) const {
        auto const p = cn::square(x) + 0.5;
        return cn::exp(x) + cn::log(p) * cn::sqrt(p) - cn::rsqrt(p) * cn::sin(x) + cn::pow(p, 1.5) +
               cn::pow(2.0, x) + cn::expm1(x) * cn::cos(x) + cn::log1p(p) + cn::erf(x);
    }
};

struct roots_and_logarithms {
    constexpr auto operator()(auto x) const {
        auto const p = cn::square(x) + 0.5;
        return cn::exp2(x) * cn::cbrt(p) + cn::log2(p) * cn::log10(p) + cn::hypot(x, p) +
               cn::xlogy(x, p) + cn::erfc(x) + cn::erfinv(0.3 * x) * cn::logit(cn::sigmoid(x) / 2);
    }
};

struct angles_and_gammas {
    constexpr auto operator()(auto x) const {
        auto const p = cn::square(x) + 0.5;
        return cn::sinh(x) * cn::asinh(p) - cn::cosh(x) * cn::acosh(p + 1) + cn::atanh(0.3 * x) +
               cn::tan(0.3 * x) * cn::atan(p) + cn::asin(0.3 * x) * cn::acos(0.2 * x) +
               cn::atan2(x, p) + cn::lgamma(p) * cn::digamma(p + 1) + cn::polygamma(2, p + 1) +
               cn::logaddexp(x, p) + cn::fmod(7 * x, 40.0) * cn::remainder(x, 50.0);
    }
};

struct comparisons {
    constexpr auto operator()(auto x) const {
        auto const high = cn::greater(x, 0.5);
        return cn::where(high, cn::square(x), 3 * x) + high * x + cn::sign(x) * x +
               cn::less_equal(x, -1) * cn::sin(x);
    }
};

// A swish with a slope of its own, as a user writes it.
struct swish {
    constexpr auto operator()(auto x) const { return x * cn::sigmoid(1.7 * x); }
};

// One value read several times, in one function and in many.
struct many_uses {
    constexpr auto operator()(auto x) const {
        auto const y = cn::tanh(x);
        auto const z = y * y + y;
        return z * x + cn::exp(z) * y - z / (y * y + 1);
    }
};

struct centred { // broadcasts a reduction over the elements it came from
    constexpr auto operator()(auto x) const {
        auto const d = x - cn::mean(x);
        return d * cn::rsqrt(cn::mean(cn::square(d)) + 0.1) + cn::max(x) * x;
    }
};

struct by_channel {
    template <cn::Shape S>
    constexpr auto operator()(cn::symbol<S> x) const {
        return x * cn::max_channels(x) + cn::sum_channels(cn::square(x)) - cn::log_sum_exp(x);
    }
};

struct by_pixel {
    constexpr auto operator()(auto x) const {
        return x * along_channels(mean_pixels(x)) + along_channels(max_pixels(cn::square(x)));
    }
};

struct to_one_number {
    constexpr auto operator()(auto x) const {
        return cn::sum(x * x) * cn::mean(cn::sin(x)) + cn::log_sum_exp(x);
    }
};

// Comparisons and argmax let no gradient through; what they multiply gets one.
struct past_argmax {
    constexpr auto operator()(auto x) const { return x * cn::argmax_channels(x); }
};

// Two tensors of different shapes, stretched onto one another.
struct outer {
    constexpr auto operator()(auto row, auto column) const {
        return row * column + cn::exp(column - row) + column;
    }
};

} // namespace

TEST_CASE("arithmetic, functions, comparisons") {
    against_finite_differences(run_of<arithmetic{}, shape<5>>());
    against_finite_differences(run_of<transcendental{}, shape<5>>());
    against_finite_differences(run_of<roots_and_logarithms{}, shape<5>>());
    against_finite_differences(run_of<angles_and_gammas{}, shape<5>>());
    against_finite_differences(run_of<comparisons{}, shape<5>>());
    against_finite_differences(run_of<swish{}, shape<3, 5>>());
    against_finite_differences(run_of<many_uses{}, shape<2, 3, 4>>());
}

TEST_CASE("activations") {
    using check::run_of;
    using s = shape<6>;
    against_finite_differences(run_of<cn::relu, s>());
    against_finite_differences(run_of<cn::relu6, s>());
    against_finite_differences(run_of<cn::leaky_relu.slope(0.3), s>());
    against_finite_differences(run_of<cn::elu, s>());
    against_finite_differences(run_of<cn::elu.alpha(0.7), s>());
    against_finite_differences(run_of<cn::selu, s>());
    against_finite_differences(run_of<cn::gelu, s>());
    against_finite_differences(run_of<cn::gelu_tanh, s>());
    against_finite_differences(run_of<cn::sigmoid, s>());
    against_finite_differences(run_of<cn::log_sigmoid, s>());
    against_finite_differences(run_of<cn::tanh, s>());
    against_finite_differences(run_of<cn::softplus, s>());
    against_finite_differences(run_of<cn::softsign, s>());
    against_finite_differences(run_of<cn::silu, s>());
    against_finite_differences(run_of<cn::mish, s>());
    against_finite_differences(run_of<cn::hard_sigmoid, s>());
    against_finite_differences(run_of<cn::hard_tanh, s>());
    against_finite_differences(run_of<cn::hard_silu, s>());
    against_finite_differences(run_of<cn::softmax, s>());
    against_finite_differences(run_of<cn::log_softmax, shape<4, 3>>());
}

TEST_CASE("reductions, and their results stretched again") {
    against_finite_differences(run_of<centred{}, shape<5>>());
    against_finite_differences(run_of<centred{}, shape<3, 2, 4>>());
    against_finite_differences(run_of<by_channel{}, shape<4, 3>>());
    against_finite_differences(run_of<by_channel{}, shape<3, 2, 4>>());
    against_finite_differences(run_of<by_pixel{}, shape<3, 2, 4>>());
    against_finite_differences(run_of<to_one_number{}, shape<5>>());
    against_finite_differences(run_of<past_argmax{}, shape<5>>());
}

TEST_CASE("two inputs of different shapes") {
    using cn::input;
    auto const by_both = []<class Network>(Network) {
        against_finite_differences(check::layer_run::of<Network, true, 3>());
    };
    by_both(cn::network<outer{}, input<5>, input<4, 1>>{});
    by_both(cn::network<outer{}, input<4, 5>, input<5>>{});
    by_both(cn::network<outer{}, input<3, 1, 1>, input<1, 2, 4>>{});
    by_both(cn::network<outer{}, input<2>, input<>>{});
}

namespace {

// The value of a node of numbers and functions of these.
double value_of_node(ir::graph const& g, int id) {
    ir::node const& n = g.nodes[id];
    if (n.kind == cn::op::constant) {
        return n.scalar;
    }
    double x[ir::max_operands]{};
    for (int k = 0; k < n.operands; ++k) {
        x[k] = value_of_node(g, n.in[k]);
    }
    double y = 0;
    [&]<std::size_t... F>(std::index_sequence<F...>) {
        auto const compute = [&]<cn::fn f>() {
            [&]<std::size_t... I>(std::index_sequence<I...>) {
                y = n.function == f ? double(cn::function<f>::value(x[I]...)) : y;
            }(std::make_index_sequence<cn::function<f>::arity>{});
        };
        (compute.template operator()<static_cast<cn::fn>(F)>(), ...);
    }(std::make_index_sequence<std::size_t(cn::fn::count)>{});
    return y;
}

// The derivative of F by input K at x, as a node and as a number.
template <cn::fn F, std::size_t K, std::size_t... I>
void check_formula(double const* x, std::index_sequence<I...>) {
    using f = cn::function<F>;
    if constexpr (f::reads[K] != cn::no_gradient) {
        ir::graph g{true};
        ir::node n;
        n.function = F;
        (..., void(n.in[I] = cn::constant_node(g, x[I])));
        double const y = f::value(x[I]...);
        int const slope = ir::push_derivative<0>(g, n, int(K), cn::constant_node(g, y));
        double const found = value_of_node(g, slope),
                     expected = f::template derivative<int(K)>(x[I]..., y);
        INFO(f::name << ", input " << K << ": " << found << " instead of " << expected);
        CHECK((found == doctest::Approx(expected).epsilon(1e-12) || !std::isfinite(expected)));
    }
}
template <cn::fn F, std::size_t... K>
void check_formulas([[maybe_unused]] double const* x,
                    [[maybe_unused]] std::index_sequence<K...> inputs) {
    (..., check_formula<F, K>(x, inputs));
}

} // namespace

TEST_CASE("derivatives as nodes are those of numbers") {
    double const points[][6] = {{0.4, 0.7, 1.3, 0.9, 0.2, 0.6},
                                {2.5, 2.5, 0.3, 1.1, 1, 0},
                                {-1.7, 0.6, -0.4, 2, 1, 1},
                                {0, 2, 1, -1, 3, 1},
                                {7, -3, 0.5, 0.1, -1, 2}};
    [&]<std::size_t... F>(std::index_sequence<F...>) {
        constexpr auto inputs = []<cn::fn f>() {
            constexpr int arity = cn::function<f>::arity; // of those with a derivative, at most 6
            return std::make_index_sequence<arity <= 6 ? arity : 0>{};
        };
        for (auto const& x : points) {
            (..., check_formulas<static_cast<cn::fn>(F)>(
                      x, inputs.template operator()<static_cast<cn::fn>(F)>()));
        }
    }(std::make_index_sequence<std::size_t(cn::fn::count)>{});
}
