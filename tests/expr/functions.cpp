// Every element-wise function: known values, derivatives against finite differences, and behaviour
// at the ends of the number range. One body for all functions.
#include <castnet/core/philox.hpp>
#include <castnet/expr/expr.hpp>

#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <utility>

using namespace castnet;

namespace {

constexpr int function_count = static_cast<int>(fn::count);
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Calls visit.template operator()<F>() for every function.
template <class Visit>
void for_every_function(Visit visit) {
    [&]<int... F>(std::integer_sequence<int, F...>) {
        (visit.template operator()<static_cast<fn>(F)>(), ...);
    }(std::make_integer_sequence<int, function_count>{});
}

template <fn F, int... I>
double value(double const* x, std::integer_sequence<int, I...>) {
    return function<F>::value(x[I]...);
}

template <fn F, int By, int... I>
double derivative(double const* x, double y, std::integer_sequence<int, I...>) {
    return function<F>::template derivative<By>(x[I]..., y);
}

// On both sides of every kink (-3, -1, 0, 1, 3, 6), never on one.
constexpr double points[] = {-7.3, -4.2, -2.6, -1.3, -0.6, -0.2, 0.3, 0.9, 1.7, 2.6, 3.4, 6.5};

double input(fn f, int index, std::uint32_t random) {
    double const x = points[random % 12];
    bool const positive = f == fn::log || f == fn::log1p || f == fn::log2 || f == fn::log10 ||
                          (f == fn::xlogy && index == 1) || f == fn::sqrt || f == fn::rsqrt ||
                          f == fn::inverse_deviation || (f == fn::pow && index == 0) ||
                          (f == fn::elu && index == 1) || f == fn::lgamma || f == fn::digamma ||
                          f == fn::polygamma;
    bool const truth = f == fn::where && index == 0;
    bool const sine = f == fn::asin || f == fn::acos || f == fn::atanh || f == fn::erfinv;
    bool const share = f == fn::logit;
    bool const divisor =
        (f == fn::fmod || f == fn::remainder) && index == 1; // of no whole quotient
    bool const order = f == fn::polygamma && index == 0;
    bool const bound = f == fn::clip && index > 0;
    return sine               ? x / 8
           : share            ? 0.5 + x / 16
           : order            ? 1 + random % 2
           : f == fn::acosh   ? 1.1 + std::fabs(x)
           : divisor || bound ? 1.37 * x
           : positive         ? std::fabs(x)
           : truth            ? (x > 0 ? 1.0 : 0.0)
                              : x;
}

template <fn F, int By>
void check_derivative() {
    using f = function<F>;
    constexpr std::make_integer_sequence<int, f::arity> inputs;
    if constexpr (f::reads[By] != no_gradient) {
        for (std::uint32_t sample = 0; sample < 300; ++sample) {
            double x[f::arity], seen[f::arity];
            for (int i = 0; i < f::arity; ++i) {
                philox_block const random = philox({sample, static_cast<std::uint32_t>(i), 0, 0},
                                                   key_of(static_cast<std::uint64_t>(F)));
                x[i] = input(F, i, random.x0);
                seen[i] = (f::reads[By] >> i & 1U) != 0 ? x[i] : not_a_number;
            }
            double const y = value<F>(x, inputs);
            double const found = derivative<F, By>(
                seen, (f::reads[By] >> f::arity & 1U) != 0 ? y : not_a_number, inputs);

            double const at = x[By];
            double const step = 1e-5 * std::fabs(at);
            x[By] = at + step;
            double const above = value<F>(x, inputs);
            x[By] = at - step;
            double const below = value<F>(x, inputs);
            double const expected = (above - below) / (2 * step);
            double const size = std::fmax(1.0, std::fmax(std::fabs(y), std::fabs(expected)));
            INFO(f::name << ", input " << By << " at " << at << ": " << found << " instead of "
                         << expected);
            CHECK(std::fabs(found - expected) <= 2e-8 * size);
        }
    }
}

} // namespace

TEST_CASE("derivatives agree with finite differences and read only what they say") {
    for_every_function([]<fn F>() {
        [&]<int... By>(std::integer_sequence<int, By...>) {
            (check_derivative<F, By>(), ...);
        }(std::make_integer_sequence<int, function<F>::arity>{});
    });
}

TEST_CASE("every function has its own name") {
    std::string names[function_count];
    int count = 0;
    for_every_function([&]<fn F>() {
        std::string const name = function<F>::name;
        CHECK_FALSE(name.empty());
        for (int i = 0; i < count; ++i) {
            CHECK(names[i] != name);
        }
        names[count++] = name;
    });
}

TEST_CASE("functions of one number neither overflow nor lose NaN") {
    for_every_function([]<fn F>() {
        using f = function<F>;
        constexpr bool activation = F >= fn::relu && F <= fn::hard_silu;
        if constexpr (activation && f::arity == 1) {
            INFO(f::name);
            CHECK(std::isnan(f::value(std::numeric_limits<float>::quiet_NaN())));
            for (float const x : {-1e4F, -100.0F, -20.0F, 0.0F, 20.0F, 100.0F, 1e4F}) {
                float const y = f::value(x);
                CHECK(std::fabs(y) <= 1.06F * std::fmax(1.0F, std::fabs(x)));
                CHECK(std::fabs(f::template derivative<0>(x, y)) <= 1.8F);
            }
        }
    });
}

TEST_CASE("known values") {
    struct {
        char const* name;
        double found, expected;
    } const table[] = {
        {"add", function<fn::add>::value(2.0, 3.0), 5},
        {"lerp", castnet::lerp(2.0, 6.0, 0.25), 3},
        {"multiply_add", multiply_add(2.0, 3.0, 4.0), 10},
        {"abs", castnet::abs(-2.5), 2.5},
        {"stop_gradient", castnet::stop_gradient(2.5), 2.5},
        {"sign", sign(-2.5) + sign(0.0), -1},
        {"square", square(-3.0), 9},
        {"minimum", minimum(2.0, -1.0), -1},
        {"maximum", maximum(2.0, -1.0), 2},
        {"less", less(1.0, 2.0) + less(2.0, 2.0) + less(3.0, 2.0), 1},
        {"less_equal", less_equal(1.0, 2.0) + less_equal(2.0, 2.0) + less_equal(3.0, 2.0), 2},
        {"greater", greater(1.0, 2.0) + greater(2.0, 2.0) + greater(3.0, 2.0), 1},
        {"greater_equal", greater_equal(2.0, 2.0) + greater_equal(1.0, 2.0), 1},
        {"equal", equal(2.0, 2.0) + equal(not_a_number, not_a_number), 1},
        {"not_equal", not_equal(2.0, 2.0) + not_equal(not_a_number, not_a_number), 1},
        {"where", where(1.0, 2.0, 3.0) + 10 * where(0.0, 2.0, 3.0), 32},
        {"exp", castnet::exp(1.0), 2.718281828459045},
        {"exp2", castnet::exp2(-3.0), 0.125},
        {"exp2", castnet::exp2(0.5), 1.4142135623730951},
        {"expm1", castnet::expm1(1e-10), 1.00000000005e-10},
        {"log", castnet::log(10.0), 2.302585092994046},
        {"log1p", castnet::log1p(1e-10), 9.9999999995e-11},
        {"log2", castnet::log2(8.0), 3},
        {"log10", castnet::log10(1000.0), 3},
        {"log10", castnet::log10(2e-310), -309.6989700043360188},
        {"xlogy", castnet::xlogy(2.0, 3.0), 2.1972245773362196},
        {"xlogy", castnet::xlogy(0.0, 0.0), 0},
        {"cbrt", castnet::cbrt(-27.0), -3},
        {"hypot", castnet::hypot(3e200, -4e200), 5e200},
        {"sqrt", castnet::sqrt(2.0), 1.4142135623730951},
        {"rsqrt", castnet::rsqrt(4.0), 0.5},
        {"pow", castnet::pow(2.0, 10.0), 1024},
        {"sin", castnet::sin(1.0), 0.8414709848078965},
        {"tan", castnet::tan(1.0), 1.5574077246549023},
        {"asin", castnet::asin(0.5), 0.5235987755982989},
        {"acos", castnet::acos(-0.5), 2.0943951023931957},
        {"atan", castnet::atan(-2.0), -1.1071487177940904},
        {"atan2", castnet::atan2(1.0, -1.0), 2.356194490192345},
        {"sinh", castnet::sinh(-1.0), -1.1752011936438014},
        {"cosh", castnet::cosh(1.0), 1.5430806348152437},
        {"asinh", castnet::asinh(-2.0), -1.4436354751788103},
        {"acosh", castnet::acosh(2.0), 1.3169578969248166},
        {"atanh", castnet::atanh(0.5), 0.5493061443340548},
        {"fmod", castnet::fmod(-7.5, 2.0), -1.5},
        {"fmod", castnet::fmod(7, -4), 3},
        {"remainder", castnet::remainder(-7.5, 2.0), 0.5},
        {"remainder", castnet::remainder(7, -4), -1},
        {"cos", castnet::cos(1.0), 0.5403023058681398},
        {"erf", castnet::erf(1.0), 0.8427007929497149},
        {"erfc", castnet::erfc(10.0), 2.088487583762545e-45},
        {"erfinv", castnet::erfinv(0.5), 0.476936276204469873},
        {"erfinv", castnet::erfinv(-1e-20), -8.86226925452758014e-21},
        {"erfinv", castnet::erfinv(1 - 0x1p-53), 5.86358474875516792},
        {"logit", castnet::logit(0.25), -1.09861228866810969},
        {"lgamma", castnet::lgamma(0.5), 0.5723649429247001},
        {"lgamma", castnet::lgamma(-1.5), 0.860047015376481},
        {"digamma", castnet::digamma(1.0), -0.5772156649015329},
        {"digamma", castnet::digamma(-0.5), 0.03648997397857652},
        {"polygamma", castnet::polygamma(1, 1.0), 1.6449340668482264},
        {"polygamma", castnet::polygamma(1, -0.5), 8.934802200544679},
        {"polygamma", castnet::polygamma(2, 1.0), -2.404113806319189},
        {"polygamma", castnet::polygamma(3, 0.5), 97.40909103400244},
        {"polygamma", castnet::polygamma(2, -1.5), -0.236204051641727403},
        {"polygamma", castnet::polygamma(2, -0.25), 122.69736678366236},
        {"polygamma", castnet::polygamma(3, -0.5), 193.409091034002437},
        {"polygamma", castnet::polygamma(3, -7.3), 769.016733981682387},
        {"polygamma", castnet::polygamma(4, -1e-3), 23999999999999972.5},
        {"polygamma", castnet::polygamma(5, -100.0625), 2013266184.3986757},
        {"logaddexp", castnet::logaddexp(1.0, -2.0), 1.0485873515737421},
        {"logaddexp", castnet::logaddexp(1000.0, 1000.0), 1000.6931471805599},
        {"relu", relu(-2.0) + relu(3.0), 3},
        {"relu6", relu6(7.0) + relu6(-1.0) + relu6(2.0), 8},
        {"leaky_relu", function<fn::leaky_relu>::value(-2.0, 0.1), -0.2},
        {"elu", function<fn::elu>::value(-1.0, 2.0), -1.2642411176571153},
        {"selu", selu(1.0), 1.0507009873554805},
        {"selu", selu(-1.0), -1.1113307378125625},
        {"gelu", gelu(1.0), 0.8413447460685429},
        {"gelu_tanh", gelu_tanh(1.0), 0.8411919906082768},
        {"sigmoid", sigmoid(1.0), 0.7310585786300049},
        {"log_sigmoid", log_sigmoid(-1.0), -1.3132616875182228},
        {"log_sigmoid", log_sigmoid(-1e4), -1e4},
        {"tanh", castnet::tanh(0.5), 0.46211715726000975},
        {"softplus", softplus(1.0), 1.3132616875182228},
        {"softplus", softplus(1e4), 1e4},
        {"softsign", softsign(-3.0), -0.75},
        {"silu", silu(1.0), 0.7310585786300049},
        {"mish", mish(1.0), 0.8650983882673103},
        {"mish", mish(-1.0), -0.30340146137410895},
        {"hard_sigmoid", hard_sigmoid(1.5) + hard_sigmoid(-4.0) + hard_sigmoid(4.0), 1.75},
        {"hard_tanh", hard_tanh(-2.0) + hard_tanh(0.5) + hard_tanh(2.0), 0.5},
        {"hard_silu", hard_silu(1.0) + hard_silu(-4.0) + hard_silu(4.0), 4 + 2 / 3.0},
        {"clip", function<fn::clip>::value(5.0, 2.0, 1.0), 1}, // as in PyTorch and NumPy
        {"normalize", function<fn::normalize>::value(5.0, 3.0, 0.5, 4.0, 1.0), 5},
        {"squared_difference", function<fn::squared_difference>::value(5.0, 2.0), 9},
        {"inverse_deviation", function<fn::inverse_deviation>::value(3.75, 0.25), 0.5},
        {"softmax", function<fn::softmax>::value(2.0, 2.0), 1},
        {"softmax", function<fn::softmax>::value(-HUGE_VAL, -HUGE_VAL), 0},
        {"running_variance", function<fn::running_variance>::value(1.0, 3.0, 2.0, 2.0, 0.1), 1.3},
        {"running_variance", function<fn::running_variance>::value(2.0, 0.0, 1.0, 1.0, 0.1), 2},
        {"normalize_gradient",
         function<fn::normalize_gradient>::value(1.0, 5.0, 3.0, 0.5, 4.0, 2.0, 3.0, 0.1), 1},
    };
    for (auto const& row : table) {
        INFO(row.name);
        CHECK(row.found == doctest::Approx(row.expected).epsilon(1e-14));
    }
}

TEST_CASE("derivatives where finite differences cannot reach") {
    // One-sided or averaged at kinks, as PyTorch does
    CHECK(function<fn::absolute>::derivative<0>(0.0, 0.0) == 0);
    CHECK(function<fn::relu>::derivative<0>(0.0, 0.0) == 0);
    CHECK(function<fn::relu6>::derivative<0>(6.0, 6.0) == 0);
    CHECK(function<fn::leaky_relu>::derivative<0>(0.0, 0.1, 0.0) == 0.1);
    CHECK(function<fn::leaky_relu>::derivative<0>(-1.0, -0.5, 0.5) == -0.5);
    CHECK(function<fn::elu>::derivative<0>(0.0, 1.5, 0.0) == 1.5);
    CHECK(function<fn::maximum>::derivative<0>(1.0, 1.0, 1.0) == 0.5);
    CHECK(function<fn::minimum>::derivative<1>(1.0, 1.0, 1.0) == 0.5);
    // Powers of zero
    CHECK(function<fn::pow>::derivative<0>(0.0, 0.0, 1.0) == 0);
    CHECK(function<fn::pow>::derivative<0>(0.0, 2.0, 0.0) == 0);
    CHECK(function<fn::pow>::derivative<1>(0.0, 2.0, 0.0) == 0);
    CHECK(function<fn::pow>::derivative<1>(0.0, 0.0, 1.0) == 0);
}

TEST_CASE("arithmetic, comparisons and the ReLU family are constant expressions") {
    static_assert(relu(-1.0F) == 0.0F);
    static_assert(relu6(9.0F) == 6.0F);
    static_assert(hard_sigmoid(0.0) == 0.5);
    static_assert(where(less(1, 2), 3, 4) == 3);
    static_assert(function<fn::divide>::derivative<1>(6.0, 2.0, 3.0) == -1.5);
}

TEST_CASE("mixed numbers meet in their common type, integers in double where they must") {
    static_assert(std::is_same_v<decltype(minimum(1, 2.5F)), float>);
    static_assert(std::is_same_v<decltype(maximum(1, 2)), int>);
    CHECK(minimum(1, 2.5) == 1.0);
    CHECK(castnet::exp(1) == castnet::exp(1.0));
}

TEST_CASE("cube roots of floats are rounded nearly exactly, and those of subnormal ones, too") {
    using limits = std::numeric_limits<float>;
    for (float x = limits::denorm_min(); x < limits::infinity(); x *= 1.37F) {
        double const exact = std::cbrt(double(x));
        CHECK(std::abs(castnet::cbrt(x) / exact - 1) < 0.501 * limits::epsilon());
        CHECK(castnet::cbrt(-x) == -castnet::cbrt(x));
        x = std::nextafter(x, limits::infinity());
    }
    CHECK(castnet::cbrt(limits::infinity()) == limits::infinity());
    CHECK(std::signbit(castnet::cbrt(-0.0F)));
    CHECK(std::isnan(castnet::cbrt(limits::quiet_NaN())));
    CHECK(castnet::cbrt(27.0F) == 3);
}

TEST_CASE("erfinv and logit are infinite at the ends of their range, and NaN beyond") {
    CHECK(castnet::erfinv(1.0F) == HUGE_VALF);
    CHECK(castnet::erfinv(-1.0) == -HUGE_VAL);
    CHECK(std::isnan(castnet::erfinv(-1.01)));
    CHECK(std::isnan(castnet::erfinv(not_a_number)));
    CHECK(castnet::logit(0.0F) == -HUGE_VALF);
    CHECK(castnet::logit(1.0) == HUGE_VAL);
    CHECK(std::isnan(castnet::logit(1.01)));
}
