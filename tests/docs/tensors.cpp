// Programs of docs/tensors.md, between "// [name]" and "// [/name]"; check_snippets.sh compares.
#include <castnet/castnet.hpp>
#include <castnet/io/tensor.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <doctest/doctest.h>
#include <vector>

namespace cn = castnet;

TEST_CASE("tensors compute") {
    // [begin]
    using matrix = cn::tensor<float, cn::shape<2, 3>>;
    using row = cn::tensor<float, cn::shape<3>>;

    matrix const a{{1, 2, 3}, {4, 5, 6}};
    row const b = row::arange();                          // 0, 1, 2
    matrix const c = cn::exp(-a) * 2 + b;                 // one loop; b counts for every row
    auto const total = cn::sum(c);                        // a float
    auto const means = cn::mean<1>(c);                    // tensor<float, shape<2>>
    auto const product = cn::matmul(a, cn::transpose(c)); // tensor<float, shape<2, 2>>
    // [/begin]
    CHECK(total > 6);
    CHECK(means(0) > 1);
    CHECK(product.size() == 4);
}

TEST_CASE("views") {
    using matrix = cn::tensor<float, cn::shape<4, 6>>;
    // [views]
    matrix x = matrix::arange();
    auto corner = cn::slice<0, 1, 3>(cn::slice<1, 0, 6, 2>(x)); // x[1:3, ::2]
    corner = 0;                                                 // writes into x
    x[3] = x[0];                                                // rows
    x = x + cn::reshape<6, 4>(x)[0](1);                         // a number
    auto const image = cn::reshape<2, 3, 4>(x);                 // the same elements
    auto const turned = cn::transpose<2, 0, 1>(image);          // shape<4, 2, 3>
    cn::tensor const copy = turned;                             // elements of its own
    // [/views]
    CHECK(copy.size() == 24);
    CHECK(x(1, 0) == 1);
}

TEST_CASE("gradients") {
    // [gradients]
    auto const loss = [](auto weight, auto x, auto y) { // ridge regression
        return cn::mean(cn::square(cn::matmul(x, weight) - y)) + 0.1 * cn::dot(weight, weight);
    };
    auto const x = cn::random_normal<double, cn::shape<50, 4>>(1);
    auto const y = cn::random_normal<double, cn::shape<50>>(2);
    cn::tensor<double, cn::shape<4>> weight;
    for (int i = 0; i < 100; ++i) {
        weight -= 0.2 * cn::grad(loss, weight, x, y);
    }
    auto const [value, slopes] = cn::value_and_grad<0, 1>(loss, weight, x, y);
    auto const [by_weight, by_x] = slopes;                      // shape<4>, shape<50, 4>
    auto const curved = cn::hvp(loss, by_weight, weight, x, y); // the Hessian times by_weight
    // [/gradients]
    CHECK(value < 2);
    CHECK(cn::norm(by_weight) < 1e-6);
    CHECK(by_x.size() == 200);
    CHECK(cn::dot(curved, by_weight) >= 0);
}

TEST_CASE("models take and return tensors") {
    // [model]
    using network = cn::sequential<cn::input<4>, cn::dense<8>, cn::tanh, cn::dense<3>>;
    cn::model<network, cn::policy::cpu, cn::batch<16>> model;

    auto const flowers = cn::random_normal<float, cn::shape<50, 4>>(1);
    auto const scores = model.predict(flowers);  // tensor<float, shape<50, 3>>
    auto const one = model.predict(flowers[7]);  // tensor<float, shape<3>>
    auto const classes = cn::argmax<1>(scores);  // tensor<size_t, shape<50>>
    auto const weight = model.get<"0.weight">(); // tensor<float, shape<8, 4>>
    model.set<"0.weight">(weight - cn::mean(weight));
    // [/model]
    CHECK(one.size() == 3);
    CHECK(classes(7) < 3);

    // [train]
    auto training = cn::compile(model, cn::cross_entropy, cn::adam{}, cn::accuracy);
    auto const data = cn::data::of_tensors<cn::data::label<3>>(flowers, classes);
    training.fit(data, {.epochs = 3, .verbose = cn::verbosity::silent});

    auto const features = cn::slice<0, 0, 16>(flowers); // or a loop of one's own
    auto const labels = cn::slice<0, 0, 16>(classes);
    auto const before = training.step(cn::data::of_tensors<cn::data::label<3>>(features, labels));
    std::printf("%f\n", before.loss());
    // [/train]
    CHECK(before.loss() < 2);
}

TEST_CASE("files") {
    // [files]
    using images = cn::tensor<float, cn::shape<2, 28, 28>>;
    cn::io::write_npy("images.npy", images::ones()); // np.load("images.npy")
    auto const x = cn::io::read_npy<images>("images.npy");

    cn::io::save_safetensors("both.safetensors", std::vector{cn::io::tensor_of("x", x)});
    auto const file = cn::io::load_safetensors("both.safetensors");
    auto const again = cn::io::read_tensor<images>(file, "x");
    // [/files]
    CHECK(array_equal(again, x));
    std::remove("images.npy");
    std::remove("both.safetensors");
}

TEST_CASE("the table's spellings") {
    using matrix = cn::tensor<double, cn::shape<3, 3>>;
    matrix a = cn::random_uniform<double, cn::shape<3, 3>>(1);
    matrix const b = cn::random_normal<double, cn::shape<3, 3>>(2);
    auto const v = cn::tensor<double, cn::shape<3>>::arange();
    CHECK(array_equal(matrix::zeros() + matrix::ones(), matrix::full(1)));
    CHECK(array_equal(matrix::eye(), cn::tensor<double, cn::shape<3, 3>>::eye()));
    CHECK(allclose(cn::where(a > b, a, b), cn::maximum(a, b)));
    cn::tensor const clipped = cn::clip(a, 0.25, 0.75);
    CHECK(cn::max<0>(clipped)(0) <= 0.75);
    CHECK(allclose(cn::variance<0>(a, cn::keepdims), cn::square(cn::standard_deviation<0>(a))));
    CHECK(cn::norm(v) == doctest::Approx(2.236068));
    CHECK(allclose(cn::matmul(a, v), cn::einsum<"ij,j->i">(a, v)));
    CHECK(cn::dot(v, v) == 5);
    CHECK(allclose(cn::outer(v, v), cn::expand_dims<1>(v) * v));
    CHECK(allclose(cn::matmul(a, cn::solve(a, b)), b, 1e-9, 1e-9));
    matrix const definite = cn::matmul(a, cn::transpose(a)) + matrix::eye();
    auto const factor = cn::cholesky(definite);
    CHECK(allclose(cn::matmul(factor, cn::transpose(factor)), definite));
    CHECK(allclose(cn::matmul(definite, cn::cholesky_solve(factor, v)), v));
    CHECK(allclose(cn::matmul(factor, cn::solve_lower_triangular(factor, v)), v));
    auto const turned = cn::transpose(factor);
    CHECK(allclose(cn::matmul(turned, cn::solve_upper_triangular(turned, v)), v));
    auto const joined = cn::concatenate<0>(a, b);
    auto const piled = cn::stack<0>(v, v);
    CHECK(joined.size() == 18);
    CHECK(piled.size() == 6);
    CHECK(array_equal(cn::sort(v), v));
    CHECK(cn::argsort<0>(a)(1, 2) < 3);
    auto const [values, places] = cn::largest<2>(v);
    CHECK((values(0) == 2 && places(0) == 2));
    CHECK(cn::largest<2, 0>(a).values.size() == 6);
    auto const so_far = cn::cumsum(a);
    CHECK(allclose(cn::select<1>(so_far, 2), cn::sum<1>(a)));
    CHECK(allclose(cn::cumsum<0>(a)[2], cn::sum<0>(a)));
    CHECK(allclose(cn::cumsum<0>(cn::diff<0>(a))[1], a[2] - a[0]));
    CHECK(cn::unique(v).size() == 3);
    CHECK(cn::nonzero(v > 0).size() == 2);
    CHECK(cn::masked_select(a, a > b).size() < 9);
    auto const [top, middle, bottom] = cn::split<0, 3>(a);
    CHECK(array_equal(cn::concatenate<0>(top, middle, bottom), a));
    CHECK(cn::histogram<4>(v, 0, 2)(2) == 1);
    CHECK(cn::searchsorted(v, a).size() == 9);
    CHECK(cn::sum(cn::random_permutation<5>(3)) == 10);
    CHECK(cn::argmax<1>(a).size() == 3);
    CHECK(allclose(cn::floor(a) + cn::ceil(a), cn::round(a + 0.5) * 2 - 1));
    cn::tensor const p = (a > b) * (b > 0);
    cn::tensor const q = 1 - p;
    CHECK(cn::all(cn::maximum(p, q)));
    CHECK(array_equal(cn::tensor<int, cn::shape<3, 3>>{a * 10}, cn::floor(a * 10)));
    CHECK(cn::max(cn::remainder(b, 0.5)) < 0.5);
    CHECK(cn::max(cn::fmod(b, 0.5)) < 0.5);
    CHECK(allclose(cn::asinh(cn::sinh(b)), b));
    CHECK(allclose(cn::acosh(cn::cosh(b)), cn::abs(b)));
    CHECK(cn::all(cn::cosh(b) >= 1));
    CHECK(allclose(cn::atanh(cn::tanh(b)), b));
    CHECK(allclose(cn::lgamma(a + 2) - cn::lgamma(a + 1), cn::log(a + 1)));
    CHECK(allclose(cn::digamma(a + 2) - cn::digamma(a + 1), 1 / (a + 1)));
    CHECK(cn::all(cn::polygamma(1, a + 1) > 0));
    CHECK(allclose(cn::logaddexp(a, b), cn::log(cn::exp(a) + cn::exp(b))));
    CHECK(allclose(cn::log2(cn::exp2(b)), b));
    CHECK(allclose(cn::log2(a + 1) * cn::log(2.0), cn::log10(a + 1) * cn::log(10.0)));
    CHECK(allclose(cn::pow(cn::cbrt(a), 3), a));
    CHECK(allclose(cn::square(cn::hypot(a, b)), a * a + b * b));
    CHECK(allclose(cn::erf(b) + cn::erfc(b), matrix::ones()));
    CHECK(allclose(cn::erfinv(cn::erf(b)), b));
    CHECK(allclose(cn::logit(cn::sigmoid(b)), b));
    CHECK(allclose(cn::xlogy(a, a + 1), a * cn::log(a + 1)));
    CHECK(cn::max(cn::atan2(a, b)) < 3.15);
    CHECK(cn::max(cn::asin(cn::sin(b))) < 1.58);
    CHECK(cn::max(cn::atan(b)) < 1.58);
    CHECK(cn::max(cn::acos(cn::tanh(b))) < 3.15);
    CHECK(cn::max(cn::tan(b) * cn::cos(b)) < 1.01);
    CHECK(cn::all(cn::isfinite(a)));
    CHECK_FALSE(cn::any<0>(cn::isnan(a))(0));
    CHECK(cn::logsumexp<1>(a)(0) > 0);
    CHECK(allclose(cn::softmax(a), cn::exp(cn::log_softmax(a))));
    CHECK(cn::min(cn::sum<0>(cn::softmax.along<0>(a))) > 0.99);
    CHECK(array_equal(matrix::linspace(0, 8), matrix::arange()));
    CHECK(array_equal(cn::flip<0>(v), cn::roll<0>(cn::take<0>(v, cn::argsort(-v)), 3)));
    CHECK(array_equal(cn::flip<0, 1>(a), cn::flip<1>(cn::flip<0>(a))));
    CHECK(cn::tile<2>(v).size() == cn::repeat_interleave<0, 2>(v).size());
    CHECK(cn::sum(cn::pad<0, 1, 1>(v)) == 3);
    auto const one_row = cn::broadcast_to<1, 3>(v);
    CHECK(array_equal(cn::squeeze<0>(one_row), v));
    CHECK(array_equal(cn::select<1>(a, 2), cn::transpose(a)[2]));
    CHECK(cn::max(cn::median<0>(a)) <= cn::max(a));
    CHECK(cn::quantile(a, 0.9) > cn::median(a));
    CHECK(array_equal(cn::take_along_axis<1>(a, cn::argsort(a)), cn::sort(a)));
    CHECK(cn::trace(cn::cov(a)) > 0);
    CHECK(cn::sum(cn::diag(v)) == 3);
    CHECK(cn::trace(a) == cn::sum(cn::diagonal(a)));
    CHECK(allclose(cn::tril(a) + cn::triu<1>(a), a));
    CHECK(cn::dot(cn::cross(v, a[1]), v) == doctest::Approx(0));
    CHECK(allclose(cn::matmul(a, cn::inverse(a)), matrix::eye(), 1e-9, 1e-9));
    CHECK(cn::determinant(a) * cn::determinant(cn::inverse(a)) == doctest::Approx(1));
    {
        auto const [q, r] = cn::qr(a);
        CHECK(allclose(cn::matmul(q, r), a));
    }
    auto const [eigenvalues, vectors] = cn::eigh(definite);
    CHECK(allclose(cn::matmul(definite, vectors), vectors * eigenvalues));
    auto const [u, s, vt] = cn::svd(a);
    CHECK(allclose(cn::matmul(u * s, vt), a));
    CHECK(allclose(cn::lstsq(a, v), cn::solve(a, v), 1e-9, 1e-9));
    CHECK(cn::determinant(cn::kron(a, b)) ==
          doctest::Approx(std::pow(cn::determinant(a) * cn::determinant(b), 3)));
    CHECK(cn::max(cn::corrcoef(a)) == doctest::Approx(1));
    CHECK(allclose(cn::log(cn::cumprod(a)), cn::cumsum(cn::log(a))));
    CHECK(allclose(cn::cumprod<0>(a)[2], cn::prod<0>(a)));
    CHECK(cn::nansum(a) + cn::nanmean(a) > cn::nanmax(a) + cn::nanmin(a));
    cn::tensor const xs = cn::broadcast_to<2, 3>(v);
    cn::tensor const ys = cn::broadcast_to<2, 3>(cn::expand_dims<1>(cn::slice<0, 0, 2>(v)));
    CHECK(cn::sum(xs) == cn::sum(v) * 2);
    CHECK(cn::sum(ys) == 3);
    CHECK_FALSE(cn::any(cn::isclose(a, b)));
    a += cn::tensor<float, cn::shape<3, 3>>::ones();
    CHECK_FALSE(array_equal(a == b, matrix::ones()));
}
