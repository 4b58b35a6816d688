// Functions beside networks, against NumPy: order, statistics, sums of products, linear equations.
#include <castnet/nn/activations.hpp>
#include <castnet/tensor/tensor.hpp>

#include "golden_functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>
#include <vector>

using namespace castnet;

using block = tensor<double, shape<2, 3, 4>>;
using square_matrix = tensor<double, shape<3, 3>>;
using vector = tensor<double, shape<3>>;

namespace {

block const x = castnet::sin(block::arange());
square_matrix const a = castnet::cos(square_matrix::arange());
vector const b = vector::arange(1);
tensor<double, shape<3, 4>> const m = castnet::sin(tensor<double, shape<3, 4>>::arange());

// Whether a tensor has these elements, in the shape that it should have.
template <class S, class X>
bool is(X const& found, std::vector<double> const& expected) {
    static_assert(std::is_same_v<typename X::shape_type, S>);
    return allclose(found, tensor<double, S>(expected), 1e-12, 1e-12);
}

} // namespace

TEST_CASE("clip, variance, standard deviation and norm") {
    CHECK(is<shape<2, 3, 4>>(clip(x, -0.5, 0.25), golden::clipped));
    CHECK(std::isnan(evaluate(clip(vector::full(NAN), 0, 1))(0)));
    CHECK(variance(x) == doctest::Approx(golden::variance_all[0]));
    CHECK(is<shape<2, 4>>(variance<1>(x), golden::variance_1));
    CHECK(is<shape<3>>(standard_deviation<0, 2>(x), golden::deviation_02));
    CHECK(is<shape<1, 3, 1>>(standard_deviation<0, 2>(x * 1, keepdims), golden::deviation_02));
    CHECK(castnet::norm(x) == doctest::Approx(golden::norm_all[0]));
    CHECK(is<shape<2, 3>>(castnet::norm<2>(x), golden::norm_2));
}

TEST_CASE("norms and logarithms of integers are computed in double") {
    tensor<int, shape<4>> const large{50'000, 50'000, 1, 1};
    CHECK(castnet::norm(large) == doctest::Approx(70710.678132622405));
    tensor<unsigned, shape<2, 2>> const few{{1, 2}, {3, 4}};
    CHECK(castnet::logsumexp(few) == doctest::Approx(4.440189698561196));
    CHECK(castnet::logsumexp<1>(few)(0) == doctest::Approx(2.3132616875182228));
    CHECK(castnet::norm<1>(few)(1) == 5);
}

TEST_CASE("NaN on either side is the larger and the smaller one") {
    tensor<float, shape<4>> const a{NAN, 1, NAN, 2}, b{1, NAN, NAN, 1};
    CHECK(array_equal(castnet::isnan(maximum(a, b)), tensor<float, shape<4>>{1, 1, 1, 0}));
    CHECK(array_equal(castnet::isnan(minimum(a, b)), tensor<float, shape<4>>{1, 1, 1, 0}));
    CHECK(evaluate(maximum(a, b))(3) == 2);
    CHECK(evaluate(minimum(a, b))(3) == 1);
}

TEST_CASE("where has the type of what it chooses from") {
    tensor<float, shape<2>> const condition{0.5F, 0};
    tensor<std::int64_t, shape<2>> const a{16'777'219, 0}, b{0, 9'007'199'254'740'993};
    tensor const chosen = where(condition, a, b);
    static_assert(std::is_same_v<decltype(chosen)::value_type, std::int64_t>);
    CHECK(array_equal(chosen, tensor<std::int64_t, shape<2>>{16'777'219, 9'007'199'254'740'993}));
    tensor const floats = where(tensor<double, shape<2>>{0, 1e-300}, condition, 2.0);
    static_assert(std::is_same_v<decltype(floats)::value_type, float>);
    CHECK(array_equal(floats, tensor<float, shape<2>>{2, 0}));
    static_assert(std::is_same_v<decltype(where(condition > 0, 1, 0))::value_type, float>);
}

TEST_CASE("rounding, and tests for NaN and infinity") {
    CHECK(is<shape<2, 3, 4>>(evaluate(castnet::floor(4 * x)), golden::floors));
    CHECK(is<shape<2, 3, 4>>(evaluate(castnet::ceil(4 * x)), golden::ceilings));
    CHECK(is<shape<2, 3, 4>>(evaluate(castnet::round(4 * x)), golden::rounded));
    using halves = tensor<float, shape<7>>;
    CHECK(is<shape<7>>(evaluate(castnet::round(halves::arange(-3) / 2)), golden::rounded_halves));
    using doubles = tensor<double, shape<7>>;
    auto const is_exact = [](auto const& x, auto const& y) { // zeros with their signs
        return array_equal(x, y) && array_equal(1 / x, 1 / y);
    };
    doubles const few{-INFINITY, -1.5, -0.25, -0.0, 0.75, 1e300, INFINITY};
    CHECK(is_exact(evaluate(castnet::floor(few)),
                   doubles{-INFINITY, -2, -1, -0.0, 0, 1e300, INFINITY}));
    CHECK(is_exact(evaluate(castnet::ceil(few)),
                   doubles{-INFINITY, -1, -0.0, -0.0, 1, 1e300, INFINITY}));
    using floats = tensor<float, shape<8>>;
    floats const large{-8388607.5F, -4194303.5F, -0.5F,      -0.25F,
                       2.5F,        4194303.5F,  8388607.5F, 1e30F};
    CHECK(is_exact(evaluate(castnet::round(large)),
                   floats{-8388608, -4194304, -0.0F, -0.0F, 2, 4194304, 8388608, 1e30F}));
    CHECK(is_exact(evaluate(castnet::floor(large)),
                   floats{-8388608, -4194304, -1, -1, 2, 4194303, 8388607, 1e30F}));
    CHECK(std::isnan(castnet::round(NAN)));
    CHECK(array_equal(castnet::floor(tensor<int, shape<3>>{-1, 0, 7}),
                      tensor<int, shape<3>>{-1, 0, 7}));
    auto const special = [](auto infinity) {
        using T = decltype(infinity);
        tensor<T, shape<5>> const some{1, T(NAN), infinity, -infinity, -T(NAN)};
        CHECK(array_equal(castnet::isnan(some), tensor<T, shape<5>>{0, 1, 0, 0, 1}));
        CHECK(array_equal(castnet::isfinite(some), tensor<T, shape<5>>{1, 0, 0, 0, 0}));
    };
    special(std::numeric_limits<float>::infinity());
    special(std::numeric_limits<double>::infinity());
    special(std::numeric_limits<long double>::infinity());
    CHECK(castnet::isnan(3) == 0);
    CHECK(castnet::isfinite(3) == 1);
}

TEST_CASE("numbers at equal distances") {
    CHECK(is<shape<7>>(tensor<double, shape<7>>::linspace(-0.3, 1.1), golden::spaced));
    CHECK(tensor<float, shape<2, 3>>::linspace(0, 1)(1, 2) == 1);
    CHECK(tensor<float, shape<1>>::linspace(2, 3)(0) == 2);
}

TEST_CASE("logarithms of sums of exponentials") {
    CHECK(is<shape<2, 4>>(logsumexp<1>(300 * x), golden::log_of_sums));
    CHECK(is<shape<2, 1, 4>>(logsumexp<1>(300 * x, keepdims), golden::log_of_sums));
    CHECK(logsumexp(vector::full(1000)) == doctest::Approx(1000 + std::log(3.0)));
    double const infinity = std::numeric_limits<double>::infinity();
    CHECK(logsumexp(vector::full(-infinity)) == -infinity);
    CHECK(logsumexp(vector{0, infinity, 1}) == infinity);
    CHECK(std::isnan(logsumexp(vector{0, NAN, 1})));
}

TEST_CASE("quantiles and medians") {
    CHECK(quantile(x, 0.3) == doctest::Approx(golden::quantile_all[0]));
    CHECK(is<shape<2, 4>>(quantile<1>(x, 0.3), golden::quantiles_1));
    CHECK(is<shape<2, 1, 4>>(quantile<1>(x * 1, 0.3, keepdims), golden::quantiles_1));
    CHECK(is<shape<3>>(quantile<2, 0>(x, 0.85), golden::quantiles_02));
    CHECK(is<shape<3, 4>>(median<0>(x), golden::medians_0));
    CHECK(is<shape<2, 4>>(median<1>(x), golden::medians_1));
    CHECK(is<shape<4, 3>>(median<2>(transpose(x)), [] {
        tensor<double, shape<3, 4>> const medians(golden::medians_0);
        tensor const turned = transpose(medians);
        return std::vector<double>(turned.begin(), turned.end());
    }()));
    CHECK(array_equal(quantile<1>(x, 0), min<1>(x)));
    CHECK(array_equal(quantile<1>(x, 1), max<1>(x)));
    CHECK(median(tensor<double, shape<>>{3}) == 3);

    tensor<int, shape<4>> const few{7, 1, 2, 4};
    static_assert(std::is_same_v<decltype(median(few)), double>);
    CHECK(median(few) == 3);
    CHECK(quantile(few, 0.25) == 1.75);
    CHECK(median(tensor<bool, shape<2>>{true, false}) == 0.5);
    static_assert(std::is_same_v<decltype(median(tensor<float, shape<4>>{})), float>);

    CHECK_THROWS_WITH_AS(quantile(few, 1.5),
                         "castnet: quantile: the fraction 1.5 is not between 0 and 1", error);
    CHECK_THROWS_AS(quantile(few, NAN), error);
}

TEST_CASE_TEMPLATE("NaN and infinities among quantiles", T, float, double) {
    T const infinity = std::numeric_limits<T>::infinity();
    tensor<T, shape<2, 4>> const some{{1, T(NAN), 2, 3}, {infinity, 2, 1, infinity}};
    CHECK(std::isnan(median(some)));
    CHECK(std::isnan(median<1>(some)(0)));
    CHECK(std::isnan(quantile<1>(some, 0)(0)));
    CHECK(median<1>(some)(1) == infinity);
    CHECK(quantile<1>(some, 0)(1) == 1);
    CHECK(quantile<1>(some, 0.25)(1) == T(1.75));
    CHECK(quantile<1>(some, 1)(1) == infinity);
    CHECK(std::isnan(median(tensor<T, shape<2>>{infinity, -infinity})));
    CHECK(median(tensor<T, shape<3>>{infinity, -infinity, T(-0.0)}) == 0);
}

namespace {

// Long rows, whose quantiles are selected: numbers of which few or nearly all differ, in order or
// not, and one that is large or NaN.
template <class T, size_t Length>
void check_selected_quantiles() {
    tensor<T, shape<6, Length>> rows;
    for (size_t i = 0; i < Length; ++i) {
        rows(0, i) = static_cast<T>(i * 7919 % Length);
        rows(1, i) = static_cast<T>(i);
        rows(2, i) = static_cast<T>(Length - i);
        rows(3, i) = T(5);
        rows(4, i) = static_cast<T>(i * i % 3);
        rows(5, i) = static_cast<T>(i == Length / 3 ? 100 : i > Length / 2 ? 1 : 0);
    }
    auto const ordered = castnet::sort(rows);
    for (double const q : {0.0, 0.001, 0.37, 0.5, 0.75, 0.999, 1.0}) {
        double const place = q * (Length - 1);
        auto const below = static_cast<size_t>(place);
        double const fraction = place - static_cast<double>(below);
        auto const found = quantile<1>(rows, q);
        for (size_t row = 0; row < 6; ++row) {
            double const low = static_cast<double>(ordered(row, below));
            double const high = static_cast<double>(ordered(row, fraction > 0 ? below + 1 : below));
            CHECK(found(row) == doctest::Approx(low * (1 - fraction) + high * fraction));
            CHECK(quantile(rows[row], q) == found(row));
        }
    }
    if constexpr (std::is_floating_point_v<T>) {
        rows(1, Length / 5) = std::numeric_limits<T>::quiet_NaN();
        rows(2, Length / 7) = std::numeric_limits<T>::infinity();
        auto const medians = median<1>(rows);
        CHECK(medians(0) == T(Length - 1) / 2);
        CHECK(std::isnan(medians(1)));
        CHECK(std::isfinite(medians(2)));
        CHECK(quantile<1>(rows, 1)(2) == std::numeric_limits<T>::infinity());
    }
}

} // namespace

TEST_CASE("quantiles of many numbers") {
    check_selected_quantiles<float, 3>();
    check_selected_quantiles<float, 257>();
    check_selected_quantiles<float, 5000>();
    check_selected_quantiles<double, 1001>();
    check_selected_quantiles<std::int16_t, 1000>();
    check_selected_quantiles<int, 1000>();
}

TEST_CASE("covariances") {
    CHECK(is<shape<3, 3>>(cov(m), golden::covariances));
    CHECK(is<shape<3, 3>>(cov(transpose(transpose(m)) * 1), golden::covariances));
    tensor<int, shape<2, 3>> const whole{{1, 2, 4}, {3, 1, 1}};
    CHECK(is<shape<2, 2>>(cov(whole), {7.0 / 3, -4.0 / 3, -4.0 / 3, 4.0 / 3}));
    CHECK(all(castnet::isnan(cov(tensor<float, shape<2, 1>>{{1}, {2}})))); // as numpy.cov
}

TEST_CASE("correlations") {
    CHECK(is<shape<3, 3>>(corrcoef(m), golden::correlations));
    tensor<float, shape<2, 3>> const flat{{1, 2, 4}, {3, 3, 3}};
    auto const found = corrcoef(flat);
    CHECK(found(0, 0) == 1);
    CHECK((std::isnan(found(0, 1)) && std::isnan(found(1, 1))));
    CHECK(corrcoef(tensor<int, shape<2, 3>>{{1, 2, 3}, {3, 2, 1}})(0, 1) == -1);
}

TEST_CASE("reductions that pass over NaN") {
    auto const place = tensor<double, shape<2, 3, 4>>::arange();
    block const holed = where(castnet::remainder(place, 5) == 3, NAN, x);
    CHECK(is<shape<2, 4>>(nansum<1>(holed), golden::nansum_1));
    CHECK(is<shape<1, 3, 1>>(nanmean<0, 2>(holed * 1, keepdims), golden::nanmean_02));
    CHECK(is<shape<3, 4>>(nanmin<0>(holed), golden::nanmin_0));
    CHECK(is<shape<2, 3>>(nanmax<2>(holed), golden::nanmax_2));
    CHECK(nansum(x) == doctest::Approx(sum(x)));
    auto const infinity = std::numeric_limits<float>::infinity();
    tensor<float, shape<2, 2>> const a{{NAN, NAN}, {-infinity, NAN}};
    static_assert(std::is_same_v<decltype(nanmax(a)), float>);
    CHECK(array_equal(nansum<1>(a), tensor<float, shape<2>>{0, -infinity}));
    CHECK(std::isnan(nanmean<1>(a)(0)));
    CHECK(nanmean<1>(a)(1) == -infinity);
    CHECK(std::isnan(nanmax<1>(a)(0)));
    CHECK(nanmax<1>(a)(1) == -infinity);
    CHECK(std::isnan(nanmin(a[0])));
    CHECK(nanmin(a) == -infinity);
    CHECK(nanmean(tensor<int, shape<2>>{1, 2}) == 1.5);
    CHECK(nanmax(tensor<int, shape<2>>{1, 2}) == 2);
}

TEST_CASE("diagonals, traces and inverse matrices") {
    tensor<float, shape<2, 3>> wide{{1, 2, 3}, {4, 5, 6}};
    CHECK(array_equal(diagonal(wide), tensor<float, shape<2>>{1, 5}));
    CHECK(array_equal(diagonal(transpose(wide)), tensor<float, shape<2>>{1, 5}));
    diagonal(wide) = 0;
    CHECK(array_equal(wide, tensor<float, shape<2, 3>>{{0, 2, 3}, {4, 0, 6}}));
    CHECK(array_equal(diag(b * 2), tensor<double, shape<3, 3>>{{2, 0, 0}, {0, 4, 0}, {0, 0, 6}}));
    CHECK(castnet::trace(a) == doctest::Approx(golden::traced[0]));
    CHECK(castnet::trace(transpose(wide) + 1) == 2);
    static_assert(std::is_same_v<decltype(castnet::trace(tensor<int, shape<2, 2>>{})),
                                 decltype(sum(tensor<int, shape<2>>{}))>);

    auto const shifted = evaluate(a + 2 * square_matrix::eye());
    CHECK(is<shape<3, 3>>(inverse(shifted), golden::inverted));
    auto const both = stack<0>(shifted, 2 * shifted);
    CHECK(allclose(matmul(both, inverse(both)), square_matrix::eye(), 1e-12, 1e-12));
    CHECK(is<shape<2, 2>>(inverse(tensor<int, shape<2, 2>>{{0, 1}, {2, 0}}), {0, 0.5, 1, 0}));
    CHECK_THROWS_AS(inverse(square_matrix::ones()), error);
}

TEST_CASE("vector products, triangles, products so far and differences") {
    CHECK(is<shape<2, 3, 3>>(cross(slice<2, 0, 3>(x), b), golden::vector_products));
    CHECK(is<shape<3>>(cross(a[0] * 1, b), golden::vector_product));
    tensor<int, shape<3>> const i{1, 0, 0}, j{0, 1, 0};
    CHECK(array_equal(cross(j, i), tensor<int, shape<3>>{0, 0, -1}));

    CHECK(is<shape<3, 4>>(tril(m), golden::lower));
    CHECK(is<shape<2, 3, 4>>(tril<1>(x), golden::lower_1));
    CHECK(is<shape<2, 3, 4>>(triu<-1>(x * 1), golden::upper));
    auto const infinity = std::numeric_limits<float>::infinity();
    CHECK(array_equal(triu(tensor<float, shape<2, 2>>::full(infinity)),
                      tensor<float, shape<2, 2>>{{infinity, infinity}, {0, infinity}}));
    static_assert(std::is_same_v<decltype(tril(tensor<std::uint8_t, shape<2, 2>>{})),
                                 tensor<std::uint8_t, shape<2, 2>>>);
    auto const many = evaluate(tensor<int, shape<2, 9, 12>>::arange() + 1);
    tensor<int, shape<9, 1>> const row = tensor<int, shape<9, 1>>::arange();
    tensor const right = tensor<int, shape<12>>::arange() - row;
    CHECK(array_equal(tril<2>(many), where(right <= 2, many, 0)));
    CHECK(array_equal(triu<-3>(many), where(right >= -3, many, 0)));
    CHECK(array_equal(tril<-9>(many), 0 * many)); // beyond the corners
    CHECK(array_equal(tril<20>(many), many));
    CHECK(array_equal(triu<-20>(many), many));
    CHECK(array_equal(triu<12>(many), 0 * many));

    CHECK(is<shape<2, 3, 4>>(cumprod(x), golden::products_so_far));
    CHECK(is<shape<2, 3, 4>>(cumprod<0>(x), golden::products_so_far_0));
    CHECK(is<shape<2, 3, 4>>(cumprod<1>(x * 1), golden::products_so_far_1));
    CHECK(array_equal(cumprod(tensor<std::int8_t, shape<5>>{100, 100, -1, 2, 0}),
                      tensor<std::int64_t, shape<5>>{100, 10000, -10000, -20000, 0}));

    CHECK(is<shape<2, 3, 3>>(diff(x), golden::differences));
    CHECK(is<shape<1, 3, 4>>(diff<0>(x + 1), golden::differences_0));
}

TEST_CASE("elements at places of their own along an axis") {
    tensor<int, shape<2, 4>> const ids{{2, 0, 1, 1}, {0, 0, 2, 1}};
    CHECK(is<shape<2, 4>>(take_along_axis<0>(m, ids), golden::taken_along));
    CHECK(array_equal(take_along_axis<2>(x, argsort(x)), castnet::sort(x)));
    CHECK(array_equal(take_along_axis<1>(m * 2, argmax<1>(m, keepdims)), 2 * max<1>(m, keepdims)));
    CHECK_THROWS_AS(take_along_axis<0>(m, ids + 1), error);
    CHECK_THROWS_AS(take_along_axis<0>(m, -ids), error);
}

TEST_CASE_TEMPLATE("what is close, element by element", T, float, double, long double) {
    T const infinity = std::numeric_limits<T>::infinity(),
            nan = std::numeric_limits<T>::quiet_NaN();
    using few = tensor<T, shape<8>>;
    few const left{1, 1, 0, infinity, infinity, nan, 1, T(-0.0)};
    few const right{T(1.000001), T(1.01), T(1e-9), infinity, -infinity, nan, infinity, 0};
    CHECK(array_equal(isclose(left, right), few{1, 0, 1, 1, 0, 0, 0, 1})); // as numpy.isclose
    CHECK(array_equal(isclose(right, left), few{1, 0, 1, 1, 0, 0, 0, 1}));
    CHECK(array_equal(isclose(left, 1, 0.1, 0), few{1, 1, 0, 0, 0, 0, 1, 0}));
    tensor<int, shape<2, 1>> const whole{{1000}, {1001}};
    CHECK(array_equal(isclose(whole, tensor<int, shape<2>>{1000, 1001}, 1e-4),
                      tensor<double, shape<2, 2>>{{1, 0}, {0, 1}}));
}

TEST_CASE("activations of tensors") {
    auto const rows = evaluate(castnet::exp(x) / sum<2>(castnet::exp(x), keepdims));
    CHECK(allclose(softmax(x), rows, 1e-14, 0));
    CHECK(allclose(log_softmax(x * 1), castnet::log(rows), 1e-14, 1e-14));
    CHECK(allclose(castnet::exp(log_softmax(1000 * x)), softmax(1000 * x), 1e-9, 1e-14));
    CHECK(sum(softmax(tensor<int, shape<3>>{1, 2, 3})) == doctest::Approx(1));
    double const infinity = std::numeric_limits<double>::infinity();
    CHECK(array_equal(softmax(square_matrix::full(-infinity)), square_matrix{})); // all masked
    CHECK(array_equal(softmax(vector{-infinity, 0, -infinity}), vector{0, 1, 0}));
    CHECK(all(castnet::isnan(softmax(vector{NAN, 0, 1}))));
    CHECK(allclose(softmax.along<1>(x),
                   evaluate(castnet::exp(x) / sum<1>(castnet::exp(x), keepdims)), 1e-14, 0));
    CHECK(allclose(log_softmax.along<0>(x), castnet::log(softmax.along<0>(x)), 1e-14, 1e-14));
    auto const of_columns = softmax(transpose<1, 2, 0>(x));
    CHECK(allclose(softmax.along<0>(x), transpose<2, 0, 1>(of_columns)));

    auto const leaking = leaky_relu.slope(0.5)(b - 2); // an expression, of b and no copy
    auto const bounded = elu(b);
    CHECK(array_equal(leaking, vector{-0.5, 0, 1}));
    CHECK(array_equal(bounded, b));
    CHECK(std::get<0>(bounded.operands()).data() == b.data());
}

TEST_CASE("any and all") {
    CHECK(is<shape<2, 3>>(any<2>(x > 0.9), golden::any_large));
    CHECK(is<shape<1, 3, 1>>(all<0, 2>(x < 0.95, keepdims), golden::all_small));
    static_assert(std::is_same_v<decltype(any(x)), bool>);
    CHECK(any(vector{0, NAN, 0}));
    CHECK_FALSE(any(vector::zeros()));
    CHECK(all(x < 1));
    CHECK_FALSE(all(x != 0)); // the first is
    tensor<bool, shape<70, 41>> some;
    some(69, 40) = true;
    CHECK(any(some));
    CHECK_FALSE(all(some));
    CHECK(sum(any<0>(some)) == 1);
    CHECK(sum(any<1>(some)) == 1);
    CHECK(sum(all<1>(some == 0)) == 69);
    CHECK(any(tensor<float, shape<300>>::arange() == 299));
    CHECK(all(tensor<int, shape<300>>::arange(1)));
}

namespace {

// One element that differs, wherever it lies in a vector, in a block, or after them.
template <class T>
void check_one_that_differs() {
    constexpr size_t count = 2 * 1024 + 71;
    using numbers = tensor<T, shape<count>>;
    numbers zeros, ones = numbers::ones();
    CHECK_FALSE(any(zeros));
    CHECK(all(ones));
    CHECK(array_equal(zeros, numbers{}));
    CHECK(allclose(zeros, numbers{}));
    for (size_t i = 0; i < count; i += i % 50 == 20 ? 31 : 1) {
        numbers const before = zeros;
        zeros(i) = static_cast<T>(1);
        ones(i) = static_cast<T>(0);
        bool const found = any(zeros) && !all(ones) && any(zeros == 1) &&
                           !array_equal(zeros, before) && !array_equal(before, zeros) &&
                           !allclose(zeros, before);
        CHECK(found);
        zeros(i) = static_cast<T>(0);
        ones(i) = static_cast<T>(1);
    }
    tensor<T, shape<70, 90>> some;
    some(69, 88) = static_cast<T>(1);
    auto const turned = transpose(some);
    auto const rows = any<1>(some);
    auto const columns = any<0>(some);
    CHECK((rows(69) && sum(rows) == 1 && columns(88) && sum(columns) == 1));
    CHECK(array_equal(any<0>(turned), rows));
    CHECK(array_equal(transpose(turned), some));
    CHECK_FALSE(array_equal(turned, turned[0]));
    CHECK_FALSE(allclose(some, some[0]));
    CHECK(array_equal(some[3], T(0)));
}

} // namespace

TEST_CASE("one element of many decides") {
    check_one_that_differs<bool>();
    check_one_that_differs<std::int8_t>();
    check_one_that_differs<std::int16_t>();
    check_one_that_differs<int>();
    check_one_that_differs<std::uint64_t>();
    check_one_that_differs<float>();
    check_one_that_differs<double>();
    check_one_that_differs<long double>();
}

TEST_CASE("what is close, and what is not") {
    double const infinity = std::numeric_limits<double>::infinity();
    vector const some{1, infinity, -infinity};
    CHECK(array_equal(some, some));
    CHECK(allclose(some, some));
    CHECK_FALSE(allclose(some, -some));
    CHECK_FALSE(allclose(vector{1, 2, infinity}, vector{1, 2, 3}, 1, 1e9));
    CHECK_FALSE(allclose(vector{1, 2, 3}, vector{1, 2, infinity}, 1, infinity));
    vector const nan{1, 2, NAN};
    CHECK_FALSE(array_equal(nan, nan));
    CHECK_FALSE(allclose(nan, nan));
    CHECK((any(nan) && all(nan)));
    CHECK(allclose(vector{100, 0, -100}, vector{100.0009, 1e-9, -99.9991}));
    CHECK_FALSE(allclose(vector{100, 0, 0}, vector{100.0011, 0, 0}));
    CHECK(allclose(tensor<float, shape<>>(2), 2.00001));
}

TEST_CASE("outer products and linear equations") {
    CHECK(is<shape<3, 3>>(outer(b, a[0]), golden::outer_product));
    CHECK(is<shape<9, 12>>(kron(a, m * 1), golden::kron_of_matrices));
    CHECK(is<shape<9>>(kron(b, a[0]), golden::kron_of_vectors));
    square_matrix const system = a + 2 * square_matrix::eye();
    square_matrix const definite = matmul(a, transpose(a)) + square_matrix::eye();
    CHECK(is<shape<3, 3>>(cholesky(definite), golden::factor));
    CHECK(is<shape<3>>(castnet::solve(a + 2 * square_matrix::eye(), b), golden::solution));
    CHECK(is<shape<3, 4>>(castnet::solve(system, m), golden::solutions));
    CHECK_THROWS_WITH_AS(
        cholesky(-definite),
        doctest::Contains("castnet: cholesky: the matrix is not positive definite: pivot 0"),
        error);
    CHECK_THROWS_WITH_AS(castnet::solve(square_matrix::ones(), b),
                         doctest::Contains("castnet: solve: the matrix is singular: column 1"),
                         error);
    CHECK(castnet::solve(tensor<int, shape<1, 1>>{{4}}, tensor<int, shape<1>>{2})(0) == 0.5);
}

namespace {

tensor<double, shape<4, 3>> const tall =
    castnet::sqrt(tensor<double, shape<4, 3>>::arange()) + tensor<double, shape<4, 3>>::eye();

template <class T>
constexpr double near = 300 * (sizeof(T) < sizeof(double) ? 1.2e-7 : 2.2e-16);

template <class Q>
bool has_orthogonal_columns(Q const& q) {
    using T = typename Q::value_type;
    using square = tensor<T, shape<Q::shape_type::extent[1], Q::shape_type::extent[1]>>;
    return allclose(matmul(transpose(q), q), square::eye(), 0, near<T>);
}

template <class X>
bool is_ascending(X const& numbers) {
    tensor const values = numbers;
    return std::is_sorted(values.begin(), values.end());
}

// Whether the decompositions of a matrix give it again, in the size of its largest number.
template <class T, size_t M, size_t N>
void check_decompositions(tensor<T, shape<M, N>> const& matrix) {
    double const error = static_cast<double>(
        near<T> * std::max(max(castnet::abs(matrix)), std::numeric_limits<T>::min()));
    auto const [q, r] = qr(matrix);
    CHECK(allclose(matmul(q, r), matrix, 0, error));
    CHECK(has_orthogonal_columns(q));
    CHECK(array_equal(triu(r), r));
    auto const [u, s, vt] = svd(matrix);
    CHECK(allclose(matmul(u * s, vt), matrix, 0, error));
    CHECK(has_orthogonal_columns(u));
    CHECK(has_orthogonal_columns(evaluate(transpose(vt))));
    CHECK(is_ascending(-s));
    CHECK(min(s) >= 0);
    if constexpr (M == N) {
        tensor const symmetric = T(0.5) * matrix + T(0.5) * transpose(matrix);
        auto const [values, vectors] = eigh(symmetric);
        CHECK(allclose(matmul(symmetric, vectors), vectors * values, 0, error));
        CHECK(has_orthogonal_columns(vectors));
        CHECK(is_ascending(values));
    }
}

} // namespace

TEST_CASE("decompositions") {
    auto const [q, r] = qr(tall);
    CHECK(is<shape<4, 3>>(q, golden::qr_q));
    CHECK(is<shape<3, 3>>(r, golden::qr_r));
    auto const [wide_q, wide_r] = qr(transpose(tall));
    CHECK(is<shape<3, 3>>(wide_q, golden::qr_q_wide));
    CHECK(is<shape<3, 4>>(wide_r, golden::qr_r_wide));
    auto const [values, vectors] = eigh(matmul(a, transpose(a)) + square_matrix::eye());
    CHECK(is<shape<3>>(values, golden::eigenvalues));
    CHECK(is<shape<3, 3>>(evaluate(castnet::abs(vectors)), golden::eigenvector_sizes));
    auto const [u, s, vt] = svd(tall);
    CHECK(is<shape<4, 3>>(evaluate(castnet::abs(u)), golden::left_sizes));
    CHECK(is<shape<3>>(s, golden::singular_values));
    CHECK(is<shape<3, 3>>(evaluate(castnet::abs(vt)), golden::right_sizes));
    auto const wide = svd(transpose(tall));
    CHECK(array_equal(wide.u, transpose(vt)));
    CHECK(array_equal(wide.vt, transpose(u)));
}

TEST_CASE_TEMPLATE("decompositions of many matrices", T, float, double, long double) {
    check_decompositions(tensor<T, shape<1, 1>>{{-3}});
    check_decompositions(tensor<T, shape<5, 5>>{});
    check_decompositions(tensor<T, shape<5, 5>>::eye());
    check_decompositions(tensor<T, shape<6, 4>>::ones());
    check_decompositions(tensor<T, shape<4, 6>>::ones());
    check_decompositions(tensor<T, shape<2, 2>>{{0, 1}, {1, 0}});
    check_decompositions(tensor<T, shape<3, 3>>{{0, 0, 1}, {0, 0, 0}, {0, 0, 0}});
    auto const many = evaluate(castnet::sin(tensor<T, shape<37, 37>>::arange() * T(1.7)));
    check_decompositions(many); // of rank 2
    tensor<T, shape<37, 37>> const full = many * castnet::transpose(many) + many * many;
    check_decompositions(full);
    check_decompositions(tensor<T, shape<37, 10>>(slice<1, 0, 10>(full)));
    check_decompositions(tensor<T, shape<10, 37>>(slice<0, 0, 10>(full)));
    if constexpr (sizeof(T) <= sizeof(double)) { // allclose compares as doubles
        using limits = std::numeric_limits<T>;
        check_decompositions(tensor<T, shape<37, 37>>(full * (limits::max() / 1024)));
        check_decompositions(tensor<T, shape<37, 37>>(full * (limits::min() * 1024)));
    }
    // columns of very different sizes
    auto const sizes = castnet::exp(tensor<T, shape<37>>::arange() * -2);
    check_decompositions(tensor<T, shape<37, 37>>(full * sizes));
}

TEST_CASE("decompositions of batches, integers and what is not finite") {
    auto const batch = random_normal<double, shape<2, 3, 5, 4>>(1);
    auto const [q, r] = qr(batch);
    auto const [u, s, vt] = svd(batch);
    auto const [values, vectors] = eigh(slice<2, 0, 4>(batch));
    static_assert(std::is_same_v<decltype(r)::shape_type, shape<2, 3, 4, 4>>);
    CHECK(allclose(matmul(q, r), batch, 1e-12, 1e-12));
    CHECK(allclose(matmul(u * expand_dims<2>(s), vt), batch, 1e-12, 1e-12));
    CHECK(array_equal(q[1][2], qr(batch[1][2]).q));
    CHECK(array_equal(svd(transpose<0, 1, 3, 2>(batch)).s, s));
    CHECK(array_equal(values[1][0], eigh(slice<0, 0, 4>(batch[1][0])).values));
    CHECK(array_equal(vectors[1][0], eigh(tril(slice<0, 0, 4>(batch[1][0]))).vectors));

    CHECK(svd(tensor<int, shape<1, 2>>{{3, 4}}).s(0) == doctest::Approx(5));
    square_matrix broken = a;
    for (double const wrong : {double{NAN}, std::numeric_limits<double>::infinity()}) {
        broken(2, 1) = wrong;
        CHECK_THROWS_WITH_AS(qr(broken), "castnet: qr: the matrix has a number that is not finite",
                             error);
        CHECK_THROWS_WITH_AS(eigh(broken),
                             "castnet: eigh: the matrix has a number that is not finite", error);
        CHECK_THROWS_WITH_AS(svd(broken),
                             "castnet: svd: the matrix has a number that is not finite", error);
        CHECK_THROWS_WITH_AS(lstsq(broken, b),
                             "castnet: lstsq: the matrix has a number that is not finite", error);
    }
}

TEST_CASE("least squares") {
    CHECK(is<shape<3, 3>>(lstsq(tall, transpose(m)), golden::least_squares));
    CHECK(is<shape<3>>(lstsq(tall, m[0]), golden::least_squares_of_vector));
    CHECK(allclose(lstsq(a + 2 * square_matrix::eye(), b),
                   castnet::solve(a + 2 * square_matrix::eye(), b), 1e-12, 1e-12));
    auto const both = stack<0>(tall, 1e200 * tall);
    auto const found = lstsq(both, stack<0>(m[0], 1e200 * m[0]));
    CHECK(allclose(found[0], found[1], 1e-12, 1e-12));
    // columns of very different sizes are independent
    auto const sizes = vector{1, 1e-12, 1e12};
    CHECK(allclose(lstsq(tall * sizes, m[0]) * sizes, lstsq(tall, m[0]), 1e-9, 1e-9));
    tensor const dependent = slice<1, 0, 2>(tall);
    tensor const first = slice<1, 0, 1>(tall);
    CHECK_THROWS_WITH_AS(lstsq(concatenate<1>(dependent, 3 * first), m[0]),
                         doctest::Contains("column 2 of the matrix depends on those before it"),
                         error);
    CHECK(lstsq(tensor<int, shape<2, 1>>{{1}, {1}}, tensor<int, shape<2>>{1, 2})(0) ==
          doctest::Approx(1.5));
}

namespace {

template <class T, size_t N, size_t Columns>
void check_factors() {
    using square = tensor<T, shape<N, N>>;
    square const system = random_normal<T, shape<N, N>>(1);
    square const definite = matmul(system, transpose(system)) + T(N) * square::eye();
    square const factor = cholesky(definite);
    CHECK(allclose(matmul(factor, transpose(factor)), definite, 1e-9, 1e-9));
    CHECK(factor(0, N - 1) == 0);
    tensor<T, shape<N, Columns>> const right = random_normal<T, shape<N, Columns>>(2);
    CHECK(allclose(matmul(system, castnet::solve(system, right)), right, 1e-8, 1e-8));
}

} // namespace

TEST_CASE("factors of matrices of several blocks") {
    check_factors<double, 31, 1>();
    check_factors<double, 33, 5>();
    check_factors<double, 70, 40>();
    check_factors<double, 130, 1>();
    auto const numbered = tensor<double, shape<100, 100>>::arange();
    CHECK_THROWS_WITH_AS(castnet::solve(numbered * 0, numbered),
                         doctest::Contains("castnet: solve: the matrix is singular: column 0"),
                         error);
    tensor<double, shape<50, 50>> late = tensor<double, shape<50, 50>>::eye();
    late(40, 40) = -1;
    CHECK_THROWS_WITH_AS(cholesky(late), doctest::Contains("pivot 40 is -1"), error);
}

TEST_CASE("linear equations in batches") {
    using squares = tensor<double, shape<5, 2, 3, 3>>;
    squares const systems = random_normal<double, shape<5, 2, 3, 3>>(1) + 3 * square_matrix::eye();
    auto const vectors = random_normal<double, shape<5, 2, 3>>(2);
    auto const matrices = random_normal<double, shape<5, 2, 3, 4>>(3);
    auto const x = castnet::solve(systems, vectors);
    auto const y = castnet::solve(systems, matrices);
    squares const definite = matmul(systems, transpose<0, 1, 3, 2>(systems));
    auto const factors = cholesky(definite);
    static_assert(std::is_same_v<decltype(x)::shape_type, shape<5, 2, 3>>);
    for (size_t i = 0; i < 5; ++i) {
        CHECK(allclose(x[i][1], castnet::solve(systems[i][1], vectors[i][1])));
        CHECK(allclose(y[i][0], castnet::solve(systems[i][0], matrices[i][0])));
        CHECK(allclose(factors[i][1], cholesky(definite[i][1])));
    }
}

namespace {

// Matrices of a batch that fill vectors, and some more, beside each alone.
template <class T, size_t N>
void check_small_systems() {
    constexpr size_t batch = 37;
    tensor<T, shape<batch, N, N>> const systems = random_normal<T, shape<batch, N, N>>(N);
    auto const right = random_normal<T, shape<batch, N, 2>>(N + 1);
    tensor<T, shape<batch, N, N>> const definite =
        matmul(systems, transpose<0, 2, 1>(systems)) + tensor<T, shape<N, N>>::eye();
    auto const x = castnet::solve(systems, right);
    auto const inverted = inverse(systems);
    auto const factors = cholesky(definite);
    auto const sizes = determinant(systems);
    double const near = std::is_same_v<T, float> ? 1e-5 : 1e-14;
    for (size_t i = 0; i < batch; ++i) {
        CHECK(determinant(systems[i]) == doctest::Approx(sizes(i)).epsilon(near));
        CHECK(allclose(x[i], castnet::solve(systems[i], right[i]), near, near));
        CHECK(allclose(inverted[i], inverse(systems[i]), near, near));
        CHECK(allclose(factors[i], cholesky(definite[i]), near, near));
    }
    auto singular = systems;
    singular[20] = tensor<T, shape<N, N>>::ones();
    CHECK_THROWS_WITH_AS(inverse(singular),
                         doctest::Contains("castnet: solve: the matrix is singular: column 1"),
                         error);
    auto indefinite = definite;
    indefinite(size_t{3}, size_t{0}, size_t{0}) = -2;
    CHECK_THROWS_WITH_AS(
        cholesky(indefinite),
        doctest::Contains("castnet: cholesky: the matrix is not positive definite: pivot 0 is -2"),
        error);
}

} // namespace

TEST_CASE("small systems of large batches are those of each alone") {
    check_small_systems<float, 2>();
    check_small_systems<float, 4>();
    check_small_systems<float, 7>();
    check_small_systems<double, 3>();
    check_small_systems<double, 6>();
    tensor<double, shape<9, 2, 2>> nan = random_normal<double, shape<9, 2, 2>>(1);
    nan(4, 1, 0) = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS(inverse(nan), error);
}

namespace {

// The largest error of the inverse matrix, beside its largest number.
template <class T, size_t N>
double error_of_inverse(tensor<double, shape<N, N>> const& a) {
    tensor<T, shape<N, N>> const rounded = a;
    tensor<long double, shape<N, N>> const given = rounded;
    auto const exact = inverse(given);
    double const size = static_cast<double>(max(castnet::abs(exact)));
    long double const same = determinant(given);
    CHECK(double(std::abs(determinant(rounded) - same)) < 1e-2 * double(std::abs(same)));
    return static_cast<double>(max(castnet::abs(inverse(rounded) - exact))) / size;
}

// A matrix with orthogonal factors and these numbers between them, which say how ill-conditioned it
// is.
template <size_t N>
auto with_singular_values(tensor<double, shape<N>> const& values, std::uint64_t seed) {
    auto const mirror = [](std::uint64_t from) {
        auto const v = random_normal<double, shape<N>>(from);
        return evaluate(tensor<double, shape<N, N>>::eye() - 2 * outer(v, v) / dot(v, v));
    };
    return matmul(mirror(seed), matmul(diag(values), mirror(seed + 1)));
}

} // namespace

TEST_CASE("inverses of small matrices are as exact as elimination") {
    for (std::uint64_t seed = 0; seed < 60; seed += 2) {
        CHECK(error_of_inverse<float, 2>(with_singular_values<2>({1, 1e-4}, seed)) < 2e-3);
        CHECK(error_of_inverse<float, 3>(with_singular_values<3>({1, 1, 1e-4}, seed)) < 2e-3);
        CHECK(error_of_inverse<float, 3>(with_singular_values<3>({1, 1e-4, 1e-4}, seed)) < 2e-3);
        CHECK(error_of_inverse<float, 4>(with_singular_values<4>({1, 1, 1, 1e-4}, seed)) < 2e-3);
        CHECK(error_of_inverse<float, 4>(with_singular_values<4>({1, 1, 1e-4, 1e-4}, seed)) < 2e-3);
        CHECK(error_of_inverse<float, 4>(with_singular_values<4>({1, 1e-4, 1e-4, 1e-4}, seed)) <
              2e-3);
        CHECK(error_of_inverse<double, 4>(with_singular_values<4>({1, 1e-3, 1e-5, 1e-5}, seed)) <
              1e-10);
    }
    // products of numbers that the type cannot hold, and a batch with a few such matrices
    using square = tensor<float, shape<4, 4>>;
    square const well = random_normal<float, shape<4, 4>>(3) + 4 * square::eye();
    tensor<float, shape<21, 4, 4>> several = broadcast_to<21, 4, 4>(well);
    several[5] = well * 1e-15F;
    several[20] = well * 1e15F;
    auto const inverses = inverse(several);
    CHECK(allclose(inverses[4], inverse(well)));
    CHECK(allclose(inverses[5] * 1e-15F, inverse(well)));
    CHECK(allclose(inverses[20] * 1e15F, inverse(well)));
    CHECK(allclose(inverse(several[5]) * 1e-15F, inverse(well)));
    several = inverse(inverse(several));
    CHECK(allclose(several[0], well));
    square const inverted = inverse(well);
    CHECK(allclose(inverse(transpose(well)), transpose(inverted)));
    CHECK_THROWS_AS(inverse(tensor<float, shape<2, 2>>{{1, 2}, {2, 4}}), error);
    CHECK_THROWS_AS(inverse(tensor<float, shape<3, 3>>{{1, 2, 3}, {2, 4, 6}, {1, 0, 1}}), error);
}

TEST_CASE("determinants") {
    auto const eye = square_matrix::eye();
    CHECK(is<shape<2>>(determinant(stack<0>(a + 2 * eye, 3 * a - eye)), golden::determinants));
    CHECK(determinant(3 * a - eye) == doctest::Approx(golden::determinants[1]));
    CHECK(determinant(tensor<int, shape<1, 1>>{{-3}}) == -3);
    CHECK(determinant(tensor<int, shape<2, 2>>{{1, 2}, {3, 4}}) == doctest::Approx(-2));
    CHECK(determinant(square_matrix::ones()) == 0);
    CHECK(determinant(tensor<float, shape<4, 4>>::arange()) == doctest::Approx(0).epsilon(1e-4));
    CHECK(determinant(flip<0>(2 * tensor<float, shape<5, 5>>::eye())) == 32);
    CHECK(determinant(flip<0>(2 * tensor<float, shape<6, 6>>::eye())) == -64);
    auto const many = random_normal<double, shape<3, 2, 6, 6>>(1);
    auto const sizes = determinant(many);
    static_assert(std::is_same_v<decltype(sizes), tensor<double, shape<3, 2>> const>);
    CHECK(determinant(inverse(many[2][1])) == doctest::Approx(1 / sizes(2, 1)));
    CHECK(determinant(matmul(many[0][0], many[0][1])) ==
          doctest::Approx(sizes(0, 0) * sizes(0, 1)));
    auto const large = random_normal<float, shape<70, 70>>(2) / 8.0F;
    CHECK(determinant(large) ==
          doctest::Approx(double(determinant(tensor<double, shape<70, 70>>(large)))).epsilon(1e-3));
    square_matrix nan = square_matrix::eye();
    nan(1, 1) = std::numeric_limits<double>::quiet_NaN();
    CHECK(std::isnan(determinant(nan)));
    tensor<double, shape<5, 5>> wide_nan = tensor<double, shape<5, 5>>::eye();
    wide_nan(4, 3) = std::numeric_limits<double>::quiet_NaN();
    CHECK(std::isnan(determinant(wide_nan)));
}

TEST_CASE("order along any axis") {
    CHECK(is<shape<2, 3, 4>>(castnet::sort<0>(x), golden::sorted_0));
    CHECK(is<shape<2, 3, 4>>(argsort<1>(x), golden::sorting_1));
    CHECK(is<shape<2, 2, 4>>(largest<2, 1>(x).values, golden::largest_1));
    CHECK(array_equal(take_along_axis<1>(x, largest<2, 1>(x).indices), largest<2, 1>(x).values));
    CHECK(is<shape<2, 3, 4>>(cumsum<0>(x), golden::sums_so_far_0));
    CHECK(is<shape<2, 3, 4>>(cumsum<1>(x * 1), golden::sums_so_far_1));
    CHECK(array_equal(castnet::sort<2>(x), castnet::sort(x)));
    CHECK(array_equal(largest<3, 2>(x).indices, largest<3>(x).indices));
    CHECK(array_equal(cumsum<2>(x), cumsum(x)));
    auto const many =
        random_normal<float, shape<19, 267>>(3); // more columns than are taken at once
    auto const turned = cumsum(transpose(many));
    CHECK(allclose(cumsum<0>(many), transpose(turned), 1e-5, 1e-5));
    CHECK(allclose(cumsum<1>(transpose(many)), turned, 1e-5, 1e-5));
    auto const sums = cumsum<0>(many);
    CHECK(array_equal(sums[18], sum<0>(many)));
    auto const tall = random_normal<float, shape<300, 3>>(4); // which are added in double
    auto const turned_tall = cumsum(transpose(tall));
    CHECK(allclose(cumsum<0>(tall), transpose(turned_tall), 1e-6, 1e-5));
    tensor<std::int8_t, shape<3, 1>> const bytes{{100}, {100}, {-1}};
    CHECK(array_equal(cumsum<0>(bytes), tensor<std::int64_t, shape<3, 1>>{{100}, {200}, {199}}));
}

TEST_CASE("order along the last axis") {
    CHECK(is<shape<2, 3, 4>>(castnet::sort(x), golden::sorted_rows));
    CHECK(is<shape<2, 3, 4>>(argsort(x), golden::sorting));
    auto const [values, indices] = largest<2>(x);
    CHECK(is<shape<2, 3, 2>>(values, golden::largest));
    CHECK(x(1, 2, indices(1, 2, 1)) == values(1, 2, 1));
    CHECK(is<shape<2, 3, 4>>(cumsum(x), golden::sums_so_far));

    tensor<float, shape<5>> const some{2, NAN, -1, 2, 0};
    auto const ordered = castnet::sort(some);
    CHECK((ordered(0) == -1 && ordered(3) == 2 && std::isnan(ordered(4))));
    CHECK(array_equal(argsort(some), tensor<int, shape<5>>{2, 4, 0, 3, 1}));
    CHECK(array_equal(largest<3>(some).indices, tensor<int, shape<3>>{1, 0, 3}));
    tensor<int, shape<2, 3>> const few{{3, 1, 3}, {1, 1, 2}};
    CHECK(castnet::unique(few) == std::vector<int>{1, 2, 3});
    using place = std::array<size_t, 2>;
    CHECK(castnet::nonzero(few > 1) == std::vector<place>{{0, 0}, {0, 2}, {1, 2}});
    CHECK(castnet::nonzero(few[0] - 3) == std::vector<size_t>{1});
    CHECK(castnet::masked_select(few, few > 1) == std::vector<int>{3, 3, 2});
    CHECK(castnet::masked_select(few, few[0] < 0).empty());
    auto const different = castnet::unique(tensor<float, shape<5>>{NAN, 1, -NAN, 1, NAN});
    CHECK((different.size() == 2 && different[0] == 1 && std::isnan(different[1])));
    auto const rows = random_normal<float, shape<7, 33>>(1); // more than are added up at once
    auto const sums = cumsum(rows);
    for (size_t row = 0; row < 7; ++row) {
        CHECK(array_equal(sums[row], cumsum(rows[row])));
        CHECK(sums(row, 32) == doctest::Approx(sum(rows[row])));
    }
    static_assert(std::is_same_v<decltype(cumsum(tensor<std::uint8_t, shape<2>>()))::value_type,
                                 std::uint64_t>);
}

namespace {

template <class T, size_t Length>
void check_order_of_many() {
    // few different ones, of which some are equal, and both zeros
    using rows = tensor<T, shape<3, Length>>;
    rows numbers = rows::arange();
    size_t state = 7;
    for (T& number : numbers) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        number = static_cast<T>(static_cast<T>(state >> 56) - static_cast<T>(100));
        if (std::is_floating_point_v<T> && state >> 58 == 3) {
            number = state >> 57 & 1 ? static_cast<T>(NAN) : static_cast<T>(-0.0);
        }
    }
    auto const before = [](T one, T other) {
        return one < other || (one == one && other != other);
    };
    auto const ordered = castnet::sort(numbers);
    auto const places = argsort(numbers);
    for (size_t row = 0; row < 3; ++row) {
        std::vector<size_t> expected(Length);
        std::iota(expected.begin(), expected.end(), size_t{0});
        // (clang warns of std::stable_sort in libstdc++ 12)
        std::sort(expected.begin(), expected.end(), [&](size_t one, size_t other) {
            T const left = numbers(row, one), right = numbers(row, other);
            return before(left, right) || (!before(right, left) && one < other);
        });
        for (size_t i = 0; i < Length; ++i) {
            REQUIRE(places(row, i) == expected[i]);
            T const number = numbers(row, expected[i]);
            REQUIRE((ordered(row, i) == number || (number != number && ordered(row, i) != number)));
        }
    }
}

} // namespace

TEST_CASE("order of many numbers of any type") {
    check_order_of_many<float, 20>();
    check_order_of_many<float, 300>();
    check_order_of_many<double, 500>();
    check_order_of_many<std::int8_t, 100>();
    check_order_of_many<std::uint8_t, 100>();
    check_order_of_many<std::int16_t, 100>();
    check_order_of_many<int, 200>();
    check_order_of_many<unsigned, 200>();
    check_order_of_many<std::int64_t, 200>();
    check_order_of_many<bool, 30>();
    tensor<float, shape<100>> const falling = tensor<float, shape<100>>::arange(1e30F, -2e28F);
    CHECK(array_equal(argsort(falling), tensor<int, shape<100>>::arange(99, -1)));
}

TEST_CASE("short rows have positions in order, the first of equals first") {
    tensor<float, shape<19, 3>> x;
    for (size_t i = 0; i < 19; ++i) {
        x(i, i % 3) = NAN;
        x(i, (i + 1) % 3) = -0.0F;
    }
    auto const places = argsort(x);
    auto const [values, indices] = largest<2>(x);
    for (size_t i = 0; i < 19; ++i) {
        size_t const one = std::min((i + 1) % 3, (i + 2) % 3);
        CHECK(places(i, 0) == one);
        CHECK(places(i, 1) == 3 - one - i % 3);
        CHECK(places(i, 2) == i % 3);
        CHECK(indices(i, 0) == i % 3);
        CHECK(indices(i, 1) == one);
        CHECK(std::isnan(values(i, 0)));
    }
    auto const bytes =
        evaluate(castnet::remainder(tensor<std::uint8_t, shape<20, 5>>::arange(0, 77), 7));
    CHECK(array_equal(take_along_axis<1>(bytes, argsort(bytes)), castnet::sort(bytes)));
}

namespace {

// Rows that fill vectors, and rows that are left.
template <class T, size_t Rows, size_t Length>
void check_sorted_rows() {
    tensor<T, shape<Rows, Length>> numbers;
    numbers =
        random_uniform<double, shape<Rows, Length>>(Length, std::is_unsigned_v<T> ? 0 : -100, 100);
    if constexpr (std::is_floating_point_v<T>) {
        numbers(0, Length / 2) = -std::numeric_limits<T>::infinity();
        numbers(Rows - 1, 0) = numbers(1, Length - 1) = std::numeric_limits<T>::quiet_NaN();
    }
    auto const ordered = castnet::sort(numbers);
    for (size_t row = 0; row < Rows; ++row) {
        std::vector<T> expected(&numbers(row, 0), &numbers(row, 0) + Length);
        std::sort(expected.begin(), expected.end(),
                  [](T left, T right) { return left < right || (left == left && right != right); });
        for (size_t i = 0; i < Length; ++i) {
            T const found = ordered(row, i);
            CHECK((found == expected[i] || (found != found && expected[i] != expected[i])));
        }
    }
}

} // namespace

TEST_CASE("many short rows are sorted") {
    check_sorted_rows<float, 37, 2>();
    check_sorted_rows<float, 16, 13>();
    check_sorted_rows<double, 17, 31>();
    check_sorted_rows<double, 8, 100>();
    check_sorted_rows<float, 19, 256>();
    check_sorted_rows<int, 20, 33>();
    check_sorted_rows<std::uint8_t, 70, 7>();
    check_sorted_rows<std::int64_t, 9, 64>();
}

TEST_CASE_TEMPLATE("the places of many short rows are in order, those of equal numbers, too", T,
                   float, double, std::int64_t, std::int16_t) {
    using rows = tensor<T, shape<19, 60>>; // rows that fill vectors, and rows that are left
    rows const x = rows{castnet::remainder(tensor<int, shape<19, 60>>::arange() * 7919, 17) - 8};
    auto const places = argsort(x);
    CHECK(array_equal(take_along_axis<1>(x, places), castnet::sort(x)));
    bool stable = true;
    for (size_t row = 0; row < 19; ++row) {
        for (size_t i = 1; i < 60; ++i) {
            size_t const before = places(row, i - 1), after = places(row, i);
            stable = stable && (x(row, before) != x(row, after) || before < after);
        }
    }
    CHECK(stable);
}

TEST_CASE_TEMPLATE("histograms of many numbers count as those of few do", T, float, double,
                   std::int8_t, std::uint8_t, std::int16_t, std::int32_t, std::uint32_t,
                   std::int64_t) {
    using many = tensor<T, shape<5003>>;
    tensor<double, shape<5003>> const wide =
        castnet::remainder(tensor<double, shape<5003>>::arange() * 7919.0, 127.0) - 64.0;
    tensor<T, shape<5003>> const x = std::is_signed_v<T> ? many(wide) : many(castnet::abs(wide));
    for (auto const [low, high] :
         {std::array{-10.0, 20.0}, {0.5, 40.25}, {-1e6, 1e6}, {300, 400}, {-9.5, -3.0}}) {
        auto const counts = histogram<10>(x, low, high);
        tensor<size_t, shape<10>> expected;
        for (T const number : x) {
            expected += histogram<10>(tensor<T, shape<1>>{number}, low, high);
        }
        CHECK(array_equal(counts, expected));
    }
}

TEST_CASE("histograms and places in ordered numbers") { // of numpy.histogram and searchsorted
    tensor<double, shape<13>> const some{0,   0.1, 0.25,   0.3,  0.5, 0.7, 0.75,
                                         0.9, 1.0, 1.0001, -0.1, NAN, 0.6};
    CHECK(array_equal(histogram<4>(some, 0, 1), tensor<int, shape<4>>{2, 2, 3, 3}));
    CHECK(array_equal(histogram<10>(some, 0, 1),
                      tensor<int, shape<10>>{1, 1, 2, 0, 0, 2, 1, 1, 0, 2}));
    // edges are as exact as the numbers: the float 0.7 is less than the double
    tensor<float, shape<10>> const tenths{0, 0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F, 0.9F};
    CHECK(array_equal(histogram<10>(tenths, 0, 1), tensor<int, shape<10>>::ones()));
    CHECK(sum(histogram<3>(tenths, 0.7, 1)) == 3);
    tensor<double, shape<10>> const doubles = tenths;
    CHECK(array_equal(histogram<10>(doubles, 0, 1),
                      tensor<int, shape<10>>{1, 1, 1, 1, 1, 1, 2, 0, 2, 0}));
    CHECK_THROWS_WITH_AS(histogram<4>(some, 1, 1),
                         "castnet: histogram: the range from 1 to 1 is empty", error);
    double const most = std::numeric_limits<double>::max();
    double const infinity = std::numeric_limits<double>::infinity();
    CHECK_THROWS_WITH_AS(histogram<4>(some, -infinity, 1),
                         "castnet: histogram: the range from -inf to 1 has no finite width", error);
    CHECK_THROWS_AS(histogram<4>(some, -most, most), error);
    tensor<int, shape<4>> const bounds{1, 3, 3, 7};
    CHECK(array_equal(searchsorted(bounds, tensor<int, shape<2, 3>>{{0, 1, 2}, {3, 7, 8}}),
                      tensor<int, shape<2, 3>>{{0, 0, 1}, {1, 3, 4}}));
    tensor<double, shape<3>> const zeros{-1, 0, 1};
    CHECK(array_equal(searchsorted(zeros, tensor<float, shape<2>>{-0.0F, 0}),
                      tensor<int, shape<2>>::ones()));
    auto const steps = tensor<float, shape<101>>::arange(0, 2);
    auto const between = tensor<double, shape<205>>::arange(-1);
    auto const found = searchsorted(steps, between);
    for (size_t i = 0; i < found.size(); ++i) {
        CHECK(found(i) == std::min(i / 2, size_t{101}));
    }
    CHECK(array_equal(searchsorted(tensor<int, shape<1>>{4}, tensor<int, shape<3>>{3, 4, 5}),
                      tensor<int, shape<3>>{0, 0, 1}));
    tensor<float, shape<3>> const with_nan{1, 3, NAN};
    CHECK(array_equal(searchsorted(with_nan, tensor<float, shape<3>>{3, NAN, 9}),
                      tensor<int, shape<3>>{1, 2, 2}));
}

TEST_CASE("sums of products by their letters") {
    CHECK(is<shape<2, 3, 3>>(einsum<"bij,kj->bik">(x, m), golden::einsum_product));
    CHECK(is<shape<>>(einsum<"ii->">(a), golden::einsum_trace));
    CHECK(is<shape<3>>(einsum<"ii->i">(a), golden::einsum_diagonal));
    CHECK(is<shape<2>>(einsum<"bij,i,j->b">(x, b, m[0]), golden::einsum_weighted));
    CHECK(is<shape<4, 2, 3>>(einsum<"bij->jbi">(x), golden::einsum_turned));
    CHECK(allclose(einsum<"ik,jk->ij">(a, transpose(a)), matmul(a, a)));
    CHECK(array_equal(einsum<" bij, kj -> bik ">(x, m), einsum<"bij,kj->bik">(x, m)));
}

TEST_CASE("sums of products of matrices by their letters") {
    auto const numbers = []<size_t... D>(shape<D...>, double first) {
        return tensor<double, shape<D...>>(
            castnet::sin(tensor<double, shape<D...>>::arange(first)));
    };
    auto const p = numbers(shape<3, 5, 2, 4>{}, 0); // b i k l
    auto const q = numbers(shape<4, 6, 3, 2>{}, 1); // l j b k
    auto const products = einsum<"bikl,ljbk->bij">(p, q);
    auto const turned = einsum<"bikl,ljbk->jbi">(p, q);
    tensor<double, shape<3, 5, 6>> expected;
    for (size_t b = 0; b != 3; ++b) {
        for (size_t i = 0; i != 5; ++i) {
            for (size_t j = 0; j != 6; ++j) {
                for (size_t k = 0; k != 2; ++k) {
                    for (size_t l = 0; l != 4; ++l) {
                        expected(b, i, j) += p(b, i, k, l) * q(l, j, b, k);
                    }
                }
            }
        }
    }
    CHECK(allclose(products, expected));
    CHECK(allclose(turned, transpose<2, 0, 1>(expected)));
    auto const one = p[1][2];
    tensor<double, shape<3, 5>> const weighted = sum<2, 3>(p * one);
    CHECK(allclose(einsum<"bikl,kl->ib">(p, one), transpose(weighted)));
    CHECK(allclose(einsum<"kl,bikl->bi">(one, p), weighted));
    CHECK(allclose(einsum<"ij,ij->j">(m, m), sum<0>(m * m)));
}

TEST_CASE("random words of many counters are those of each") {
    std::uint64_t const stream = 0x123456789ABCDEF, first = 0xFFFFFFFF - 20; // over a carry
    std::uint64_t words[2][2 * cpu::philox_counters];
    cpu::philox_words(key_of(0x9876543210), stream, first, 2 * cpu::philox_counters, words);
    for (size_t i = 0; i != 2 * cpu::philox_counters; ++i) {
        auto const drawn = detail::block_of(key_of(0x9876543210), stream, first + i);
        CHECK(words[0][i] == (std::uint64_t{drawn.x0} << 32 | drawn.x1));
        CHECK(words[1][i] == (std::uint64_t{drawn.x2} << 32 | drawn.x3));
    }
    auto const numbers = random_uniform<double, shape<53>>(7);
    for (size_t i = 0; i != 53; ++i) {
        auto const pair = detail::random_pair<double>(key_of(7), 0, i / 2);
        CHECK(numbers(i) == (i % 2 == 0 ? pair.first : pair.second));
    }
}

TEST_CASE("sums of products of many operands by their letters") {
    auto const one = random_normal<double, shape<4, 7, 8>>(1);
    auto const two = random_normal<double, shape<8, 9, 4>>(2);
    auto const three = random_normal<float, shape<4, 9>>(3);
    tensor<double, shape<7, 4>> expected;
    for (size_t b = 0; b != 4; ++b) {
        auto const product = matmul(one[b], select<2>(two, b));
        select<1>(expected, b) = matmul(product, three[b]);
    }
    CHECK(allclose(einsum<"bij,jkb,bk->ib">(one, two, three), expected));
    CHECK(allclose(einsum<"bij,jkb,bk,b,b->">(one, two, three, two[0][0], two[1][1]),
                   sum(expected * two[0][0] * two[1][1])));
    auto const matrix = one[0];
    CHECK(allclose(einsum<"i,i,jk->kj">(b, b, matrix), dot(b, b) * transpose(matrix)));
    auto const square = matmul(transpose(matrix), matrix);
    CHECK(allclose(einsum<"ni,ij,nj->n">(matrix, square, matrix),
                   sum<1>(matmul(matrix, square) * matrix)));
    using whole = tensor<std::int8_t, shape<8, 8>>;
    whole const many = whole::arange();
    auto const of_three = einsum<"ij,jk,kl->li">(many, many, many);
    static_assert(std::is_same_v<decltype(of_three)::value_type, std::int64_t>);
    tensor<std::int64_t, shape<8, 8>> const wide = many;
    auto const cube = matmul(matmul(wide, wide), wide);
    CHECK(array_equal(of_three, transpose(cube)));
}

namespace {

// In the order of words, or else of their places.
template <size_t N>
void check_permutation() {
    auto words = tensor<std::uint64_t, shape<N>>::empty();
    for (size_t i = 0; i < words.size(); ++i) {
        words(i) = detail::permutation_word(key_of(7), 0, i);
    }
    CHECK(array_equal(random_permutation<N>(7), argsort(words)));
}

} // namespace

TEST_CASE("random numbers depend on seed, stream and position only") {
    using many = tensor<float, shape<10'001>>;
    many const u = random_uniform<float, shape<10'001>>(7, -1, 3);
    CHECK(castnet::min(u) >= -1);
    CHECK(castnet::max(u) < 3);
    CHECK(mean(u) == doctest::Approx(1).epsilon(0.05));
    CHECK(array_equal(random_uniform<float, shape<5>>(7, -1, 3), slice<0, 0, 5>(u)));
    CHECK_FALSE(array_equal(random_uniform<float, shape<10'001>>(7, -1, 3, 1), u));
    auto const n = random_normal<double, shape<10'001>>(7, 2, 0.5);
    CHECK(mean(n) == doctest::Approx(2).epsilon(0.02));
    CHECK(standard_deviation(n) == doctest::Approx(0.5).epsilon(0.03));
    auto const order = random_permutation<1000>(7);
    CHECK(array_equal(castnet::sort(order), tensor<size_t, shape<1000>>::arange()));
    CHECK_FALSE(array_equal(order, random_permutation<1000>(8)));
    CHECK_FALSE(array_equal(order, random_permutation<1000>(7, 1)));
    check_permutation<1>();
    check_permutation<1000>();
    check_permutation<200'000>(); // some words begin alike
    check_permutation<1'100'000>();
    CHECK_THROWS_AS((void)(random_uniform<float, shape<5>>(7, 1, 0)), error);
    CHECK_THROWS_WITH_AS(
        (void)(random_normal<double, shape<5>>(7, 0, -1)),
        "castnet: random_normal: deviation is -1, expected a finite number that is "
        "not negative",
        error);
}

TEST_CASE_TEMPLATE("bytes are counted as other numbers are", T, std::uint8_t, std::int8_t, bool) {
    constexpr size_t count = 2051;
    tensor<T, shape<count>> x;
    for (size_t i = 0; i != count; ++i) {
        x(i) = static_cast<T>(i * i % 241 * 3);
    }
    tensor<int, shape<count>> const numbers{x};
    CHECK(array_equal(castnet::histogram<7>(x, -100.5, 200),
                      castnet::histogram<7>(numbers, -100.5, 200)));
    auto const values = castnet::unique(x);
    auto const expected = castnet::unique(numbers);
    REQUIRE(values.size() == expected.size());
    for (size_t i = 0; i != values.size(); ++i) {
        CHECK(int{values[i]} == expected[i]);
    }
}

namespace {

// The K largest of each row beside a stable sort of all.
template <size_t K, class T, size_t Rows, size_t Length>
void check_largest(tensor<T, shape<Rows, Length>> const& given) {
    auto const [values, places] = largest<K>(given);
    for (size_t row = 0; row != Rows; ++row) {
        std::vector<size_t> order(Length);
        std::iota(order.begin(), order.end(), size_t{0});
        auto const before = [](T one, T other) {
            return one > other || (one != one && other == other);
        };
        std::sort(order.begin(), order.end(), [&](size_t i, size_t j) {
            T const one = given(row, i), other = given(row, j);
            return before(one, other) || (!before(other, one) && i < j);
        });
        bool right = true;
        for (size_t k = 0; k != K; ++k) {
            T const number = given(row, order[k]);
            right = right && places(row, k) == order[k];
            right = right && (values(row, k) == number || number != number);
        }
        CHECK(right);
    }
}

} // namespace

TEST_CASE_TEMPLATE("few of many numbers are found in order", T, float, double, int) {
    using rows = tensor<T, shape<4, 700>>;
    rows x = rows{castnet::remainder(rows::arange() * 7919, T(211))}; // each number several times
    if constexpr (std::is_floating_point_v<T>) {
        x(1, 400) = x(1, 600) = std::numeric_limits<T>::quiet_NaN();
        x(1, 5) = -std::numeric_limits<T>::infinity();
        x[3] = std::numeric_limits<T>::quiet_NaN();
    }
    x[2] = tensor<T, shape<700>>::arange();
    check_largest<1>(x);
    check_largest<10>(x);
    check_largest<20>(x);
    check_largest<27>(x);
    check_largest<100>(x);
    check_largest<300>(x);
    check_largest<700>(x);
    auto const [all, every] = largest<700>(x);
    auto const short_rows = take_along_axis<1>(x, argsort(every)).template as<shape<28, 100>>();
    check_largest<3>(short_rows);
    check_largest<30>(short_rows);
    check_largest<99>(short_rows);
    CHECK(largest<1>(x).indices(2, 0) == 699);
}

namespace {

// Triangular systems of N equations: the triangle that does not count holds NaN.
template <class T, size_t N, class Right>
void check_triangular(Right const& right, double tolerance) {
    CAPTURE(N);
    using square = tensor<T, shape<N, N>>;
    auto const x = random_normal<T, shape<N, N>>(N);
    square const definite = matmul(x, transpose(x)) / T(N) + square::eye();
    auto const factor = cholesky(definite);
    auto const nan = square::full(std::numeric_limits<T>::quiet_NaN());
    tensor const lower = factor + triu<1>(nan);
    tensor const upper = transpose(lower);
    auto const near = [tolerance](auto const& a, auto const& b) {
        return allclose(a, b, tolerance, tolerance);
    };
    CHECK(near(matmul(factor, solve_lower_triangular(lower, right)), right));
    CHECK(near(matmul(transpose(factor), solve_upper_triangular(upper, right)), right));
    CHECK(near(matmul(transpose(factor), solve_upper_triangular(transpose(lower), right)), right));
    CHECK(near(matmul(definite, cholesky_solve(lower, right)), right));
    CHECK(near(solve(definite, right), cholesky_solve(factor, right)));
}

} // namespace

TEST_CASE("triangular systems") {
    check_triangular<double, 3>(random_normal<double, shape<3>>(1), 1e-12);
    check_triangular<double, 32>(random_normal<double, shape<32, 5>>(1), 1e-11);
    check_triangular<double, 75>(random_normal<double, shape<75>>(1), 1e-11);
    check_triangular<double, 75>(random_normal<double, shape<75, 40>>(1), 1e-11);
    check_triangular<float, 33>(random_normal<float, shape<33, 17>>(1), 1e-4);

    auto const one = square_matrix::eye(), two = evaluate(2 * one);
    tensor<double, shape<2, 3>> const sides{{1, 2, 3}, {4, 5, 6}};
    CHECK(array_equal(cholesky_solve(stack<0>(one, two), sides),
                      tensor<double, shape<2, 3>>{{1, 2, 3}, {1, 1.25, 1.5}}));
    tensor<int, shape<2, 2>> const whole{{2, 0}, {1, 0}};
    CHECK_THROWS_WITH_AS(solve_lower_triangular(whole, tensor<int, shape<2>>{1, 1}),
                         "castnet: solve: the triangular matrix is singular: element (1, 1) is 0",
                         error);
}
