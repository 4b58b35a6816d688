// Tensors on a GPU in order, by CUB and Thrust, compared with those of the host.
#include <castnet/castnet.hpp>
#include <castnet/device/cuda/tensor/order.hpp>
#include <castnet/device/cuda/tensor/thrust.hpp>

#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

namespace cn = castnet;
using host_device = cn::device::cpu;
using gpu_device = cn::device::cuda;

namespace {

using one_row = cn::tensor<float, cn::shape<5000>>;
using rows = cn::tensor<int, cn::shape<6, 7, 50>>;

one_row numbers() {
    auto x = cn::random_normal<float, cn::shape<5000>>(1);
    x(17) = NAN;
    x(18) = -x(17);
    cn::slice<0, 100, 200>(x) = cn::slice<0, 300, 400>(x); // equal ones
    x(5) = 0;
    x(6) = -0.0F;
    return x;
}
rows whole_numbers() {
    rows x;
    x = cn::random_uniform<float, cn::shape<6, 7, 50>>(2, -20, 20);
    return x;
}

// Equal but for NaN, which is where it should be.
template <class A, class B>
bool same(A const& a, B const& b) {
    return cn::array_equal(cn::where(a == a, a, 99), cn::where(b == b, b, 99));
}

template <class X>
void check_order(X const& x) {
    auto const y = cn::to<gpu_device>(x);
    CHECK(same(cn::to<host_device>(cn::sort(y)), cn::sort(x)));
    CHECK(cn::array_equal(cn::to<host_device>(cn::argsort(y)), cn::argsort(x)));
    auto const found = cn::largest<3>(y);
    auto const expected = cn::largest<3>(x);
    CHECK(same(cn::to<host_device>(found.values), expected.values));
    CHECK(cn::array_equal(cn::to<host_device>(found.indices), expected.indices));
}

} // namespace

TEST_CASE("sorted tensors on a GPU") {
    check_order(numbers());
    check_order(whole_numbers());
    check_order(cn::random_normal<double, cn::shape<300, 4>>(3));
    auto const x = whole_numbers();
    CHECK(cn::unique(cn::to<gpu_device>(x)) == cn::unique(x));
    auto const y = numbers(); // with NaN
    CHECK(cn::unique(cn::to<gpu_device>(y)).size() == cn::unique(y).size());
}

TEST_CASE("cumulative sums and histograms on a GPU") {
    auto const x = whole_numbers();
    auto const u = cn::random_uniform<float, cn::shape<5000>>(4);
    auto const y = cn::to<gpu_device>(x);
    auto const v = cn::to<gpu_device>(u);
    CHECK(cn::array_equal(cn::to<host_device>(cn::cumsum(y)), cn::cumsum(x)));
    CHECK(cn::allclose(cn::to<host_device>(cn::cumsum(v)), cn::cumsum(u)));
    CHECK(cn::array_equal(cn::to<host_device>(cn::cumsum<0>(y)), cn::cumsum<0>(x)));
    CHECK(cn::array_equal(cn::to<host_device>(cn::sort<0>(y)), cn::sort<0>(x)));
    CHECK(cn::array_equal(cn::to<host_device>(cn::argsort<0>(y)), cn::argsort<0>(x)));
    CHECK(cn::array_equal(cn::to<host_device>(cn::largest<2, 0>(y).indices),
                          cn::largest<2, 0>(x).indices));
    CHECK(cn::array_equal(cn::to<host_device>(cn::histogram<41>(y, -20, 20)),
                          cn::histogram<41>(x, -20, 20)));
    CHECK(cn::array_equal(cn::to<host_device>(cn::histogram<10>(v, 0.2, 0.7)),
                          cn::histogram<10>(u, 0.2, 0.7)));
    cn::tensor<float, cn::shape<10>> const tenths = cn::tensor<float, cn::shape<10>>::arange() / 10;
    CHECK(cn::array_equal(cn::to<host_device>(cn::histogram<10>(cn::to<gpu_device>(tenths), 0, 1)),
                          cn::histogram<10>(tenths, 0, 1)));
}

TEST_CASE("quantiles and what is close on a GPU") {
    auto const x = cn::random_normal<float, cn::shape<30, 4, 7>>(5);
    auto const y = cn::to<gpu_device>(x);
    CHECK(cn::allclose(cn::to<host_device>(cn::quantile<1>(y, 0.3)), cn::quantile<1>(x, 0.3)));
    CHECK(cn::allclose(cn::to<host_device>(cn::median<0, 2>(y, cn::keepdims)),
                       cn::median<0, 2>(x, cn::keepdims)));
    CHECK(std::isnan(cn::median(cn::to<gpu_device>(numbers())).item()));
    CHECK(
        cn::array_equal(cn::to<host_device>(cn::isclose(y, 0, 0, 0.5)), cn::isclose(x, 0, 0, 0.5)));
    auto const square = cn::random_normal<double, cn::shape<9, 9>>(6);
    auto const on_gpu = cn::to<gpu_device>(square);
    CHECK(cn::trace(on_gpu).item() == doctest::Approx(cn::trace(square)));
    CHECK(cn::allclose(cn::to<host_device>(cn::cov(on_gpu)), cn::cov(square)));
    CHECK(cn::array_equal(cn::to<host_device>(cn::diag(on_gpu[0])), cn::diag(square[0])));
    CHECK(cn::array_equal(cn::to<host_device>(cn::tril<-1>(on_gpu)), cn::tril<-1>(square)));
    CHECK(cn::array_equal(cn::to<host_device>(cn::diff<0>(on_gpu)), cn::diff<0>(square)));
    auto const points = cn::evaluate(cn::slice<1, 0, 3>(square));
    auto const points_there = cn::to<gpu_device>(points);
    CHECK(cn::allclose(cn::to<host_device>(cn::cross(points_there, points_there[4])),
                       cn::cross(points, points[4])));
}

TEST_CASE("permutations on a GPU are those of the host") {
    CHECK(cn::array_equal(cn::to<host_device>(cn::random_permutation<3000, gpu_device>(5)),
                          cn::random_permutation<3000>(5)));
}

TEST_CASE("tensors on a GPU are ranges for Thrust") {
    auto const x = whole_numbers();
    auto y = cn::to<gpu_device>(x);
    CHECK(thrust::reduce(cn::on_stream(), begin(y), end(y)) == cn::sum(x));
    auto row = y[2][3];
    thrust::sort(cn::on_stream(), begin(row), end(row));
    CHECK(cn::array_equal(cn::to<host_device>(row), cn::sort(x[2][3])));
}
