// Gradients of functions of tensors beside finite differences and closed forms.
#include "derivatives.hpp"

#include <array>

using check::check_derivatives, check::tensor_difference;

namespace {

using matrix = cn::tensor<double, cn::shape<4, 3>>;
using vector = cn::tensor<double, cn::shape<3>>;

template <cn::fixed_string Text>
struct sines_of_einsum {
    constexpr auto operator()(auto... x) const { return cn::sum(cn::sin(cn::einsum<Text>(x...))); }
};

matrix const a{{0.3, -0.2, 0.7}, {1.1, 0.4, -0.6}, {-0.9, 0.5, 0.2}, {0.1, -1.3, 0.8}};
vector const w{0.4, -1.2, 0.9};

} // namespace

// torch.clamp and torch.maximum with these arguments give the same.
TEST_CASE("at its bounds, clip has the derivatives of PyTorch") {
    using five = cn::tensor<double, cn::shape<5>>;
    five const x{-2, -1, 0, 2, 3};
    CHECK(cn::array_equal(cn::grad([](auto t) { return cn::sum(cn::clip(t, -1, 2)); }, x),
                          five{0, 0, 1, 0, 0}));
    CHECK(cn::array_equal(cn::grad([](auto t) { return cn::sum(cn::clip(t, 2, -1)); }, x),
                          five{0, 0, 0, 0, 0}));
    auto const clipped = [](auto t, auto low, auto high) {
        return cn::sum(cn::clip(t, low, high));
    };
    five const low{-1, -1, -1, -1, -1}, high{2, 2, 2, 2, 2};
    CHECK(cn::array_equal(cn::grad(clipped, x, low, high), five{0, 0.5, 1, 0.5, 0}));
    CHECK(cn::array_equal(cn::grad<1>(clipped, x, low, high), five{1, 0.5, 0, 0, 0}));
}

TEST_CASE("gradients and Hessian products agree with finite differences") {
    check_derivatives(
        [](auto x) { return cn::sum(cn::exp(x) * cn::tanh(x)) / (1 + cn::dot(x, x)); }, w);
    check_derivatives(
        [](auto x) { return cn::norm(cn::sin(x)) + cn::mean(cn::pow(cn::square(x) + 1, 1.5)); }, w);
    check_derivatives([](auto x) { return x[0] * cn::square(x[1]) - cn::maximum(x[2], x[0]); }, w);
    check_derivatives([](auto x, auto m) { return cn::mean(cn::square(cn::matmul(m, x) - 1)); }, w,
                      a);
    check_derivatives([](auto m, auto x) { return cn::sum(cn::tanh(cn::matmul(m, x))); }, a, w);
    check_derivatives(
        [](auto m, auto x) {
            return cn::sum(cn::matmul(m, x, [&](auto y) { return cn::tanh(y) * y; }));
        },
        a, w);
    check_derivatives(
        [](auto m) {
            return cn::sum(cn::square(cn::sum<0>(m))) * cn::sum(cn::exp(cn::mean<1>(m)));
        },
        a);
    check_derivatives(
        [](auto m) {
            return cn::variance(m) + cn::sum(cn::square(cn::sum<1>(m * m, cn::keepdims) * m));
        },
        a);
    check_derivatives([](auto x) { return cn::sum(cn::log(1 + cn::square(cn::outer(x, x)))); }, w);
    check_derivatives([](auto x) { return cn::logsumexp(2 * x) * cn::standard_deviation(x); }, w);
    check_derivatives(
        [](auto m) {
            auto const scaled = (m - cn::mean<0>(m)) / cn::standard_deviation<0>(m, cn::keepdims);
            return cn::dot(cn::logsumexp<1>(m), cn::norm<1>(m)) + cn::sum(cn::exp(scaled));
        },
        a);
}

TEST_CASE("norms and deviations of equal numbers have a gradient of 0") {
    CHECK(cn::array_equal(cn::grad([](auto x) { return cn::norm(x); }, vector::zeros()),
                          vector::zeros()));
    CHECK(cn::array_equal(
        cn::grad([](auto x) { return cn::sum(cn::standard_deviation<1>(x)); }, matrix::ones()),
        matrix::zeros()));
    CHECK(std::isnan(cn::grad([](auto x) { return cn::norm(x); }, vector{0, NAN, 0})(1)));
}

TEST_CASE("the maximum of numbers with NaN is NaN") {
    auto const largest = [](auto x) { return cn::max(x); };
    CHECK(std::isnan(cn::value_and_grad(largest, vector{1, NAN, 2}).value));
    CHECK(std::isnan(cn::value_and_grad(largest, vector{NAN, NAN, NAN}).value));
    auto const of_rows = [](auto x) { return cn::sum(cn::max<1>(x)); };
    matrix x = a;
    x(2, 1) = NAN;
    CHECK(std::isnan(cn::value_and_grad(of_rows, x).value));
    CHECK(cn::grad(of_rows, x)(1, 0) == 1);
}

TEST_CASE("a product has a gradient where elements are 0") {
    CHECK(cn::array_equal(cn::grad([](auto x) { return cn::prod(x); }, vector{3, 0, 2}),
                          vector{0, 6, 0}));
    CHECK(cn::array_equal(cn::grad([](auto x) { return cn::prod(x); }, vector{0, 0, 2}),
                          vector::zeros()));
}

TEST_CASE("the largest elements are different ones, of equal and infinite ones the first") {
    auto const values = [](auto x, auto by) {
        return cn::dot(cn::largest<3>(x).values, by) + cn::dot(cn::largest<3>(x).indices, by);
    };
    vector const by{1, 10, 100};
    CHECK(cn::value_and_grad(values, vector{2, 5, 5}, by).value == 255 + 21);
    CHECK(cn::array_equal(cn::grad(values, vector{2, 5, 5}, by), vector{100, 1, 10}));
    auto const places = [](auto x, auto by_place) {
        return cn::dot(cn::largest<3>(x).indices, by_place) + 0 * cn::sum(cn::exp(x));
    };
    CHECK(cn::value_and_grad(places, vector{-INFINITY, -INFINITY, 1}, by).value == 102);
}

TEST_CASE("gradients through functions of matrices") {
    auto const gram = [](auto m) {
        auto const product = cn::matmul(cn::transpose(m), m); // of symbols alone
        return cn::sum(product * product * product);
    };
    matrix const slope = cn::grad(gram, a);
    auto const product = cn::matmul(cn::transpose(a), a);
    CHECK(cn::allclose(slope, cn::matmul(a, product * product * 6), 1e-12, 1e-12));

    auto const attention = [](auto q, auto k) {
        auto const scores = cn::matmul_transposed(q, k);
        return cn::mean(cn::square(cn::matmul(scores | cn::softmax, q)));
    };
    matrix const v = cn::cos(a);
    auto const moved = [&](matrix const& x) { return cn::grad(attention, x, a); };
    CHECK(cn::allclose(cn::hvp(attention, v, a, a), tensor_difference(moved, a, v), 1e-6, 1e-8));
}

TEST_CASE("gradients along axes of tensors with three") {
    using cube = cn::tensor<double, cn::shape<2, 3, 4>>;
    cube const x = cn::random_normal<double, cn::shape<2, 3, 4>>(3);
    check_derivatives([](auto t) { return cn::sum(cn::square(cn::sum<1>(t))); }, x);
    check_derivatives([](auto t) { return cn::sum(cn::exp(cn::mean<0, 2>(t))); }, x);
    check_derivatives([](auto t) { return cn::sum(cn::square(cn::select<2>(t, 1) - 3)); }, x);
    check_derivatives([](auto t) { return cn::sum(cn::square(cn::max<2>(t)) * cn::min<2>(t)); }, x);
    check_derivatives(
        [](auto t) { return cn::sum(cn::square(cn::logsumexp<2>(t) - cn::norm<2>(t))); }, x);
    check_derivatives(
        [](auto t) { return cn::sum(cn::square(t) * cn::variance<0, 1>(t, cn::keepdims)); }, x);
    check_derivatives([](auto t) { return cn::sum(cn::square(t - cn::norm<1>(t, cn::keepdims))); },
                      x);
    check_derivatives([](auto t) { return cn::sum(cn::sin(t) * cn::mean<0>(t * t)); }, x);
    check_derivatives([](auto t) { return cn::sum(cn::exp(cn::cumsum(t)) * t); }, x);
    check_derivatives([](auto t) { return cn::sum(cn::square(t) * cn::roll<1>(t, -1)); }, x);
    check_derivatives([](auto t) { return cn::sum(cn::square(cn::prod<1>(t) + 1)); }, x);
    check_derivatives(
        [](auto t) { return cn::sum(cn::square(cn::prod<2, 0>(t, cn::keepdims)) * t); }, x);
    check_derivatives([](auto t) { return cn::norm(cn::take<1>(t, std::array{2, 0, 1, 2}) + 1); },
                      x);
    check_derivatives([](auto t) { return cn::norm(cn::take<2>(t, std::array{3}) + cn::prod(t)); },
                      x);
    check_derivatives(
        [](auto t) {
            auto const [values, indices] = cn::largest<3>(t);
            return cn::sum(cn::exp(values) * (indices + 1));
        },
        x);
}

TEST_CASE("sums of products by einsum") {
    using cube = cn::tensor<double, cn::shape<2, 3, 4>>;
    using square = cn::tensor<double, cn::shape<3, 3>>;
    cube const x = cn::random_normal<double, cn::shape<2, 3, 4>>(3);
    square const s = cn::random_normal<double, cn::shape<3, 3>>(4);
    check_derivatives(sines_of_einsum<"bij -> jbi">{}, x);
    check_derivatives(sines_of_einsum<"bij->i">{}, x);
    check_derivatives(sines_of_einsum<"ii->i">{}, s);
    check_derivatives(sines_of_einsum<"bij,bkj->bik">{}, x, cube(cn::cos(x)));
    check_derivatives(sines_of_einsum<"bij,bij->ij">{}, x, cube(cn::cos(x)));
    check_derivatives(sines_of_einsum<"bij,ki->kjb">{}, x, s);
    check_derivatives(sines_of_einsum<"ki,bij->bjk">{}, s, x);
    check_derivatives(sines_of_einsum<"bij,ii->bj">{}, x, s);
    check_derivatives(sines_of_einsum<"i,j->ji">{}, w, vector(cn::cos(w)));
    check_derivatives(sines_of_einsum<"bij,ki,k->bj">{}, x, s, w);
    check_derivatives(sines_of_einsum<"iik,bij,k->bj">{},
                      cn::tensor<double, cn::shape<3, 3, 3>>(cn::expand_dims<2>(s) * s), x, w);
    check_derivatives(sines_of_einsum<"bij,bij->">{}, x, cube(cn::cos(x)));
    check_derivatives(sines_of_einsum<"ii->">{}, s);
    check_derivatives(sines_of_einsum<"i,ij,j->">{}, w, s, vector(cn::cos(w)));
}

TEST_CASE("places and axes of symbols are those of tensors") {
    check_derivatives([](auto m) { return cn::sum(cn::exp(cn::flip<0>(m)) * m * cn::argmax(m)); },
                      a);
    check_derivatives(
        [](auto m) { return cn::sum(cn::square(cn::flip<1>(m)) * m - cn::argmin(m)); }, a);
    check_derivatives([](auto m) { return cn::sum(cn::square(cn::flip<0, 1>(m)) * m); }, a);
    check_derivatives(
        [](auto m, auto x) { return cn::sum(cn::argmax<0>(m) * x * x) + cn::norm(m); }, a, w);
    check_derivatives([](auto m) { return cn::sum(cn::argmin<1>(m, cn::keepdims) * m * m); }, a);
    check_derivatives([](auto x) { return cn::norm(cn::expand_dims<1>(x) * x + cn::argmin<0>(x)); },
                      w);
    check_derivatives([](auto m) { return cn::norm(cn::squeeze<1>(cn::slice<1, 1, 2>(m))); }, a);
    check_derivatives([](auto m) { return cn::sum(cn::exp(cn::diagonal(m))) * cn::sum(m); }, a);
    check_derivatives([](auto m) { return cn::norm(cn::diagonal(cn::transpose(m)) - 2); }, a);
    check_derivatives([](auto m) { return cn::square(cn::trace(m)) + cn::norm(m); }, a);
    check_derivatives([](auto x, auto m) { return cn::sum(cn::exp(cn::matmul(m, cn::diag(x)))); },
                      w, a);
    auto const blocks = cn::random_normal<double, cn::shape<2, 4, 3>>(1);
    auto const places = [](auto x) {
        return cn::sum(x + cn::argmax(x)) + cn::sum(cn::argmax<1>(x) * cn::select<1>(x, 0));
    };
    CHECK(cn::value_and_grad(places, blocks).value == doctest::Approx(places(blocks)));
}

TEST_CASE("by several arguments, numbers among them") {
    auto const line = [](auto slope, auto offset, auto x) {
        return cn::sum(cn::square(slope * x + offset));
    };
    auto const [value, gradient] = cn::value_and_grad<0, 1>(line, 2.0, 0.5, w);
    auto const [by_slope, by_offset] = gradient;
    CHECK(value == doctest::Approx(cn::sum(cn::square(2 * w + 0.5))));
    CHECK(by_slope == doctest::Approx(cn::sum(2 * w * (2 * w + 0.5))));
    CHECK(by_offset == doctest::Approx(cn::sum(2 * (2 * w + 0.5))));

    // Views, expressions and floats; of two arguments one may not matter.
    cn::tensor<float, cn::shape<3>> const f{1, 2, 3};
    cn::tensor<float, cn::shape<3>> const twice =
        cn::grad([](auto x, auto) { return cn::dot(x, x); }, f * 2, f);
    CHECK(cn::array_equal(twice, f * 4));
    CHECK(cn::array_equal(cn::grad([](auto x) { return cn::sum(x); }, a[1]), vector::ones()));
}

TEST_CASE("products with Jacobians") {
    auto const f = [](auto x, auto m) { return cn::tanh(cn::matmul(m, x)); };
    cn::tensor<double, cn::shape<4>> const u{1, -2, 0.5, 3};
    vector const v{0.2, 0.7, -1};
    cn::tensor<double, cn::shape<4>> const slope = 1 - cn::square(cn::tanh(cn::matmul(a, w)));
    CHECK(cn::allclose(cn::vjp(f, u, w, a), cn::matmul(cn::transpose(a), slope * u), 1e-12, 1e-12));
    CHECK(cn::allclose(cn::jvp(f, v, w, a), slope * cn::matmul(a, v), 1e-12, 1e-12));
    // Linear functions: results that are arguments, and a Hessian of 0.
    CHECK(cn::array_equal(cn::vjp([](auto x) { return x; }, v, w), v));
    CHECK(cn::array_equal(cn::jvp([](auto x) { return -x; }, v, w), -v));
    CHECK(cn::array_equal(cn::hvp([](auto x, auto y) { return cn::dot(x, y); }, v, w, w),
                          vector::zeros()));
}

TEST_CASE("gradients within functions") {
    // The norm of a gradient, as gradient penalties have it, and a third derivative.
    auto const penalty = [](auto x) {
        auto const inner = [](auto t) { return cn::sum(cn::exp(t) * t); };
        return cn::sum(cn::square(cn::grad(inner, x)));
    };
    vector const slope = (w + 1) * cn::exp(w);
    CHECK(cn::allclose(cn::grad(penalty, w), 2 * slope * (w + 2) * cn::exp(w), 1e-12, 1e-12));
    auto const second = [](auto x) {
        auto const sum_of_powers = [](auto t) { return cn::sum(t * t * t * t); };
        return cn::sum(cn::hvp(sum_of_powers, x, x));
    };
    CHECK(cn::allclose(cn::grad(second, w), 36 * cn::square(w), 1e-12, 1e-12));
}

TEST_CASE("what stop_gradient returns is a constant") {
    auto const f = [](auto x) { return cn::sum(x * cn::stop_gradient(cn::exp(x))); };
    CHECK(cn::allclose(cn::grad(f, w), cn::exp(w)));
}

TEST_CASE("gradients go back through all steps of a loop") {
    auto const decaying = [](auto x, auto v) {
        auto const cell = [](auto x_t, auto sum) { return 0.5 * sum + x_t; };
        return cn::dot(cn::reshape<4>(cn::scan(x, cn::shape<1>{}, cell).outputs), v);
    };
    auto const x = cn::random_normal<double, cn::shape<4, 1>>(3);
    cn::tensor<double, cn::shape<4>> const v{1, -2, 0.5, 3};
    cn::tensor<double, cn::shape<4, 1>> const slope{
        {1 - 1 + 0.125 + 0.375}, {-2 + 0.25 + 0.75}, {0.5 + 1.5}, {3}};
    CHECK(cn::allclose(cn::grad(decaying, x, v), slope, 1e-12, 1e-12));
}

TEST_CASE("ridge regression has its closed form where the gradient is 0") {
    auto const x = cn::random_normal<double, cn::shape<20, 3>>(1);
    cn::tensor<double, cn::shape<20>> const y =
        cn::matmul(x, w) + 0.1 * cn::random_normal<double, cn::shape<20>>(2);
    auto const loss = [](auto weight, auto features, auto targets, auto penalty) {
        return cn::sum(cn::square(cn::matmul(features, weight) - targets)) +
               penalty * cn::dot(weight, weight);
    };
    auto const transposed = cn::transpose(x);
    vector const exact =
        cn::solve(cn::matmul(transposed, x) + 0.5 * cn::tensor<double, cn::shape<3, 3>>::eye(),
                  cn::matmul(transposed, y));
    CHECK(cn::allclose(cn::grad(loss, exact, x, y, 0.5), vector::zeros(), 0, 1e-10));
    // The loss is quadratic: H times the way to the minimum is the gradient.
    CHECK(cn::allclose(cn::hvp(loss, w - exact, w, x, y, 0.5), cn::grad(loss, w, x, y, 0.5), 1e-9,
                       1e-9));
}

TEST_CASE("the gradient of logistic regression") {
    auto const loss = [](auto weight, auto x, auto y) {
        auto const logit = cn::matmul(x, weight);
        return cn::mean(cn::softplus(logit) - y * logit);
    };
    cn::tensor<double, cn::shape<4>> const y{1, 0, 0, 1};
    cn::tensor<double, cn::shape<4>> const p = cn::sigmoid(cn::matmul(a, w));
    CHECK(cn::allclose(cn::grad(loss, w, a, y), cn::matmul(cn::transpose(a), (p - y) / 4), 1e-12,
                       1e-12));
    cn::tensor<double, cn::shape<4>> const weights = p * (1 - p) / 4 * cn::matmul(a, w);
    CHECK(cn::allclose(cn::hvp(loss, w, w, a, y), cn::matmul(cn::transpose(a), weights), 1e-12,
                       1e-12));
}

TEST_CASE("Newton's method with conjugate gradients finds the minimum of Rosenbrock's function") {
    using point = cn::tensor<double, cn::shape<6>>;
    auto const rosenbrock = [](auto x) {
        auto const left = cn::slice<0, 0, 5>(x), right = cn::slice<0, 1, 6>(x);
        return cn::sum(100 * cn::square(right - cn::square(left)) + cn::square(1 - left));
    };
    point x = point::full(0.8);
    int steps = 0;
    while (cn::norm(cn::grad(rosenbrock, x)) > 1e-9 && steps < 50) {
        point const slope = cn::grad(rosenbrock, x);
        point step, residual = -slope, direction = residual;
        for (int i = 0; i < 12 && cn::norm(residual) > 1e-12; ++i) {
            point const curved = cn::hvp(rosenbrock, direction, x);
            double const curvature = cn::dot(direction, curved);
            if (curvature <= 0) {
                break;
            }
            double const before = cn::dot(residual, residual), length = before / curvature;
            step += length * direction;
            residual -= length * curved;
            direction = residual + cn::dot(residual, residual) / before * direction;
        }
        double length = 1;
        auto const value = [&](double t) {
            return cn::value_and_grad(rosenbrock, x + t * step).value;
        };
        double const here = value(0);
        while (length > 1e-6 && value(length) > here) {
            length /= 2;
        }
        x += length * step;
        ++steps;
    }
    CHECK(steps < 50);
    CHECK(cn::allclose(x, point::ones(), 1e-9, 1e-9));
}
