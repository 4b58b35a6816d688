// The elementary functions: accuracy, special values, and the same bits in vectors as alone.
#include <castnet/core/arctangent.hpp>
#include <castnet/core/error_function.hpp>
#include <castnet/core/exponential.hpp>
#include <castnet/core/gamma.hpp>
#include <castnet/core/hyperbolic.hpp>
#include <castnet/core/logarithm.hpp>
#include <castnet/core/power.hpp>
#include <castnet/core/remainder.hpp>
#include <castnet/core/sine.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <vector>

namespace elementary = castnet::elementary;

namespace {

// Each of them, with the one of the C library, its worst error in units in the last place as it is
// documented.
#define CASTNET_TEST_FUNCTION(f, documented)                                                       \
    struct f##_function {                                                                          \
        static constexpr char const* name = #f;                                                    \
        static constexpr double most = documented;                                                 \
        template <class T>                                                                         \
        static T of(T x) {                                                                         \
            return elementary::f(x);                                                               \
        }                                                                                          \
        template <class T>                                                                         \
        static T exactly(T x) {                                                                    \
            return std::f(x);                                                                      \
        }                                                                                          \
    };
CASTNET_TEST_FUNCTION(exp, 1.5)
CASTNET_TEST_FUNCTION(exp2, 1.5)
CASTNET_TEST_FUNCTION(expm1, 2)
CASTNET_TEST_FUNCTION(log, 1)
CASTNET_TEST_FUNCTION(log1p, 2)
CASTNET_TEST_FUNCTION(log2, 2)
CASTNET_TEST_FUNCTION(log10, 2)
CASTNET_TEST_FUNCTION(tanh, 3)
CASTNET_TEST_FUNCTION(erf, 3)
CASTNET_TEST_FUNCTION(erfc, 5)
CASTNET_TEST_FUNCTION(sin, 2.5)
CASTNET_TEST_FUNCTION(cos, 2.5)
CASTNET_TEST_FUNCTION(atan, 3)
CASTNET_TEST_FUNCTION(sinh, 3)
CASTNET_TEST_FUNCTION(cosh, 3)
CASTNET_TEST_FUNCTION(asinh, 4)
CASTNET_TEST_FUNCTION(acosh, 4)
CASTNET_TEST_FUNCTION(atanh, 3)
#undef CASTNET_TEST_FUNCTION

template <class Number>
struct sigmoid_function {
    static constexpr char const* name = "sigmoid";
    static constexpr double most = 3;
    template <class T>
    static T of(T x) {
        return elementary::sigmoid(x);
    }
    template <class T>
    static T exactly(T x) {
        T const y = 1 / (1 + std::exp(-x));
        return y < T(std::numeric_limits<Number>::min()) ? T(0) : y;
    }
};

// Powers with exponents from -20 to 20, which depend on the bits of the base.
template <class Number>
struct pow_function {
    static constexpr char const* name = "pow";
    static constexpr double most = 1.5;
    template <class T>
    static T exponent(T x) {
        auto const bits = elementary::float_bits<Number>::of(static_cast<Number>(x));
        return T(static_cast<Number>(static_cast<int>(bits % 4001) - 2000) / Number(100));
    }
    template <class T>
    static T of(T x) {
        return elementary::pow(x, exponent(x));
    }
    template <class T>
    static T exactly(T x) {
        return std::pow(x, exponent(x));
    }
};

// Angles of points whose second coordinate depends on the bits of the first.
template <class Number>
struct atan2_function {
    static constexpr char const* name = "atan2";
    static constexpr double most = 3;
    template <class T>
    static T other(T y) {
        auto const bits = elementary::float_bits<Number>::of(static_cast<Number>(y));
        auto const number = static_cast<Number>(static_cast<int>(bits % 4001) - 2000);
        return T(static_cast<Number>(y) * number / Number(100));
    }
    template <class T>
    static T of(T y) {
        return elementary::atan2(y, other(y));
    }
    template <class T>
    static T exactly(T y) {
        return std::atan2(y, other(y));
    }
};

template <class F, class T>
[[gnu::noinline]] T alone(T x) {
    return F::of(x);
}

template <class F, class T>
[[gnu::noinline]] void in_vectors(T const* x, T* y, std::size_t count) {
    CASTNET_IVDEP
    for (std::size_t i = 0; i < count; ++i) {
        y[i] = F::of(x[i]);
    }
}

template <class T>
bool same(T a, T b) {
    using bits = elementary::float_bits<T>;
    return bits::of(a) == bits::of(b) || (a != a && b != b);
}

// The error in units in the last place of T
template <class T, class Exact>
double error_of(T found, Exact exact) {
    using limits = std::numeric_limits<T>;
    if (same(found, static_cast<T>(exact)) && !std::isfinite(found)) {
        return 0;
    }
    if (std::isnan(found) || std::isnan(exact)) {
        return limits::infinity();
    }
    Exact const size = std::fmax(std::fabs(exact), Exact(limits::min()));
    if (!(size <= Exact(limits::max()))) { // rounding down from infinity is an error, too
        return found == limits::max() ? 1 : limits::infinity();
    }
    Exact const unit = std::ldexp(Exact(1), std::ilogb(size) - (limits::digits - 1));
    return double(std::fabs(Exact(found) - exact) / unit);
}

template <class F, class Exact, class T>
void check(std::vector<T> const& x) {
    std::vector<T> y(x.size());
    in_vectors<F>(x.data(), y.data(), x.size());
    double worst = 0;
    T worst_at = 0;
    std::size_t different = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        different += std::size_t(!same(y[i], alone<F>(x[i])));
        double const error = error_of(y[i], F::exactly(static_cast<Exact>(x[i])));
        if (error > worst) {
            worst = error;
            worst_at = x[i];
        }
    }
    INFO(F::name << ": " << worst << " at " << worst_at);
    CHECK(worst <= F::most);
    CHECK(different == 0);
}

template <class Exact, class T>
void check_all(std::vector<T> const& x) {
    check<exp_function, Exact>(x);
    check<exp2_function, Exact>(x);
    check<expm1_function, Exact>(x);
    check<log_function, Exact>(x);
    check<log1p_function, Exact>(x);
    check<log2_function, Exact>(x);
    check<log10_function, Exact>(x);
    check<tanh_function, Exact>(x);
    check<erf_function, Exact>(x);
    check<erfc_function, Exact>(x);
    check<sin_function, Exact>(x);
    check<cos_function, Exact>(x);
    check<atan_function, Exact>(x);
    check<sinh_function, Exact>(x);
    check<cosh_function, Exact>(x);
    check<asinh_function, Exact>(x);
    check<acosh_function, Exact>(x);
    check<atanh_function, Exact>(x);
    check<atan2_function<T>, Exact>(x);
    check<sigmoid_function<T>, Exact>(x);
    check<pow_function<T>, Exact>(x);
}

template <class F, class T>
void check_zeros() { // of odd functions
    CHECK(same(alone<F>(T(0)), T(0)));
    CHECK(same(alone<F>(T(-0.0)), T(-0.0)));
}

} // namespace

// Every number of type float in some minutes: CASTNET_TEST_STRIDE=1 test_core_elementary
TEST_CASE("elementary functions of floats are as accurate as documented") {
    char const* const given = std::getenv("CASTNET_TEST_STRIDE");
    std::uint64_t const stride = given ? std::strtoull(given, nullptr, 10) : 10'007;
    std::vector<float> x;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += stride) {
        x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        if (x.size() == 1'000'000) {
            check_all<double>(x);
            x.clear();
        }
    }
    check_all<double>(x);
}

// (which the C library's need not be; long double has no more bits on some targets, and is slow on
// others)
TEST_CASE("elementary functions of doubles are as accurate as documented" *
          doctest::skip(!elementary::Vectorized<double> ||
                        std::numeric_limits<long double>::digits != 64)) {
    std::mt19937_64 random(1);
    std::vector<double> x;
    for (int i = 0; i < 20'000; ++i) {
        x.push_back(std::bit_cast<double>(random()));
        for (double const range : {1.0, 7.0, 50.0, 800.0, 2.5e6}) {
            x.push_back(range * (std::ldexp(double(random() >> 11), -52) - 1));
        }
        x.push_back(0.5 + std::ldexp(double(random() >> 11), -53)); // where the logarithm cancels
    }
    check_all<long double>(x);
}

TEST_CASE_TEMPLATE("special values of elementary functions", T, float, double) {
    using limits = std::numeric_limits<T>;
    constexpr T infinity = limits::infinity(), nan = limits::quiet_NaN();
    CHECK(alone<exp_function>(T(0)) == T(1));
    CHECK(alone<exp_function>(-infinity) == T(0));
    CHECK(alone<exp_function>(infinity) == infinity);
    CHECK(alone<exp_function>(std::log(limits::min()) - T(1)) > T(0)); // subnormal
    CHECK(alone<expm1_function>(-infinity) == T(-1));
    CHECK(alone<expm1_function>(infinity) == infinity);
    CHECK(alone<log_function>(T(1)) == T(0));
    for (T const zero : {T(0), T(-0.0)}) {
        CHECK(alone<log_function>(zero) == -infinity);
    }
    CHECK(alone<log_function>(infinity) == infinity);
    for (int const power :
         {limits::min_exponent - limits::digits, -3, 0, 1, 7, limits::max_exponent - 1}) {
        T const x = std::ldexp(T(1), power);
        CHECK(alone<exp2_function>(T(power)) == x);
        CHECK(alone<log2_function>(x) == T(power));
    }
    CHECK(alone<exp2_function>(-infinity) == T(0));
    CHECK(alone<exp2_function>(infinity) == infinity);
    CHECK(alone<log10_function>(T(1000)) == T(3));
    CHECK(alone<log10_function>(T(0)) == -infinity);
    CHECK(std::isnan(alone<log2_function>(T(-1))));
    CHECK(std::isnan(alone<log_function>(T(-1))));
    CHECK(std::isnan(alone<log_function>(-infinity)));
    CHECK(alone<log1p_function>(T(-1)) == -infinity);
    CHECK(alone<log1p_function>(infinity) == infinity);
    CHECK(std::isnan(alone<log1p_function>(T(-2))));
    for (T const sign : {T(1), T(-1)}) {
        CHECK(alone<tanh_function>(sign * infinity) == sign);
        CHECK(alone<erf_function>(sign * infinity) == sign);
        CHECK(alone<tanh_function>(sign * limits::denorm_min()) == sign * limits::denorm_min());
    }
    CHECK(alone<sigmoid_function<T>>(T(0)) == T(0.5));
    CHECK(alone<sigmoid_function<T>>(-infinity) == T(0));
    CHECK(alone<sigmoid_function<T>>(infinity) == T(1));
    CHECK(alone<cos_function>(T(0)) == T(1));
    CHECK(alone<sin_function>(limits::max()) == std::sin(limits::max()));
    CHECK(alone<cos_function>(limits::max()) == std::cos(limits::max()));
    CHECK(alone<sin_function>(-limits::denorm_min()) == -limits::denorm_min());
    CHECK(std::isnan(alone<sin_function>(infinity)));
    CHECK(std::isnan(alone<cos_function>(-infinity)));
    CHECK(std::isnan(alone<sin_function>(nan)));
    CHECK(std::isnan(alone<cos_function>(nan)));
    check_zeros<sin_function, T>();
    check_zeros<expm1_function, T>();
    check_zeros<log1p_function, T>();
    check_zeros<tanh_function, T>();
    check_zeros<erf_function, T>();
    check_zeros<sinh_function, T>();
    check_zeros<asinh_function, T>();
    check_zeros<atanh_function, T>();
    for (T const sign : {T(1), T(-1)}) {
        CHECK(alone<sinh_function>(sign * infinity) == sign * infinity);
        CHECK(alone<cosh_function>(sign * infinity) == infinity);
        CHECK(alone<asinh_function>(sign * infinity) == sign * infinity);
        CHECK(alone<atanh_function>(sign) == sign * infinity);
        CHECK(std::isnan(alone<atanh_function>(sign * T(1.5))));
        CHECK(std::isnan(alone<atanh_function>(sign * infinity)));
        CHECK(alone<sinh_function>(sign * limits::denorm_min()) == sign * limits::denorm_min());
    }
    CHECK(alone<acosh_function>(T(1)) == T(0));
    CHECK(alone<acosh_function>(infinity) == infinity);
    for (T const below : {T(0.5), T(-1), limits::lowest(), -infinity}) {
        CHECK(std::isnan(alone<acosh_function>(below)));
    }
    CHECK(std::isnan(alone<sinh_function>(nan)));
    CHECK(std::isnan(alone<cosh_function>(nan)));
    CHECK(std::isnan(alone<asinh_function>(nan)));
    CHECK(std::isnan(alone<acosh_function>(nan)));
    CHECK(std::isnan(alone<atanh_function>(nan)));
    CHECK(std::isnan(alone<exp_function>(nan)));
    CHECK(std::isnan(alone<exp2_function>(nan)));
    CHECK(std::isnan(alone<expm1_function>(nan)));
    CHECK(std::isnan(alone<log_function>(nan)));
    CHECK(std::isnan(alone<log1p_function>(nan)));
    CHECK(std::isnan(alone<tanh_function>(nan)));
    CHECK(std::isnan(alone<erf_function>(nan)));
    CHECK(std::isnan(alone<sigmoid_function<T>>(nan)));
}

TEST_CASE_TEMPLATE("powers are those of the C library", T, float, double) {
    using limits = std::numeric_limits<T>;
    std::vector<T> numbers{T(0),
                           T(0.5),
                           T(1),
                           T(2),
                           T(3),
                           T(4),
                           T(5),
                           T(0.1),
                           T(1) / T(3),
                           T(2.3),
                           T(7.3),
                           T(1.5),
                           T(1e10),
                           T(8388607),
                           T(8388608.5),
                           T(16777215),
                           T(16777216),
                           T(1e30),
                           limits::min(),
                           limits::denorm_min(),
                           limits::max(),
                           limits::infinity(),
                           std::nextafter(T(1), T(0))};
    for (std::size_t i = numbers.size(); i-- > 0;) {
        numbers.push_back(-numbers[i]);
    }
    numbers.push_back(limits::quiet_NaN());
    for (T const exponent : numbers) {
        for (T const x : numbers) {
            T const found = elementary::pow(x, exponent), expected = std::pow(x, exponent);
            INFO(x << " to the power of " << exponent);
            CHECK((std::isnan(expected) || std::signbit(found) == std::signbit(expected)));
            CHECK(error_of(found, static_cast<long double>(expected)) <= 2);
        }
    }
}

TEST_CASE_TEMPLATE("powers of 1/2 and -1 are square roots and quotients", T, float, double) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 100'000; ++i) {
        T const x = std::ldexp(T(1) + static_cast<T>(std::ldexp(double(random() >> 12), -52)),
                               static_cast<int>(random() % 200) - 100);
        CHECK(same(elementary::pow(x, T(0.5)), std::sqrt(x)));
        CHECK(same(elementary::pow(x, T(-1)), 1 / x));
    }
    T const below = std::nextafter(T(1), T(0)); // whose root is nearest to the middle
    CHECK(same(elementary::pow(below, T(0.5)), std::sqrt(below)));
}

TEST_CASE_TEMPLATE("angles on the axes are those of the C library", T, float, double) {
    using limits = std::numeric_limits<T>;
    T const some[] = {0,
                      T(-0.0),
                      1,
                      -1,
                      limits::infinity(),
                      -limits::infinity(),
                      limits::max(),
                      limits::lowest(),
                      limits::denorm_min(),
                      limits::quiet_NaN()};
    for (T const y : some) {
        for (T const x : some) {
            T const found = elementary::atan2(y, x), expected = std::atan2(y, x);
            INFO("the angle of (" << x << ", " << y << ")");
            bool const both = std::isnan(found) && std::isnan(expected);
            CHECK((both || (std::fabs(found - expected) <= 4 * limits::epsilon() &&
                            std::signbit(found) == std::signbit(expected))));
        }
    }
}

TEST_CASE_TEMPLATE("remainders are those of the C library, bit by bit", T, float, double) {
    using limits = std::numeric_limits<T>;
    using bits = elementary::float_bits<T>;
    std::mt19937_64 random(1);
    std::vector<T> numbers{0,
                           T(-0.0),
                           1,
                           -1,
                           T(0.1),
                           T(1) / bits::power_of_two(bits::bias - 30),
                           limits::denorm_min(),
                           limits::min(),
                           limits::max(),
                           limits::lowest(),
                           limits::infinity(),
                           -limits::infinity(),
                           limits::quiet_NaN()};
    for (int i = 0; i < 400; ++i) {
        numbers.push_back(bits::number(static_cast<typename bits::type>(random())));
        numbers.push_back(static_cast<T>(std::ldexp(double(random() >> 11), -50) - 4));
        numbers.push_back(static_cast<T>(int(random() % 2001) - 1000) / 8);
    }
    std::size_t different = 0;
    for (T const a : numbers) {
        for (T const b : numbers) {
            different += std::size_t(!same(elementary::fmod(a, b), std::fmod(a, b)));
        }
    }
    CHECK(different == 0);
}

namespace {

struct lgamma_function {
    template <class T>
    static T of(T x) {
        return elementary::lgamma(x);
    }
};
struct digamma_function {
    template <class T>
    static T of(T x) {
        return elementary::digamma(x);
    }
};
struct trigamma_function {
    template <class T>
    static T of(T x) {
        return elementary::trigamma(x);
    }
};

} // namespace

TEST_CASE_TEMPLATE("the logarithm of gamma and its derivatives", T, float, double) {
    using limits = std::numeric_limits<T>;
    constexpr T infinity = limits::infinity();
    constexpr double some = sizeof(T) == sizeof(float) ? 1e-7 : 1e-14;
    std::mt19937_64 random(1);
    std::vector<T> x, logarithm, first, second;
    for (int i = 0; i < 20'000; ++i) {
        double const u = std::ldexp(double(random() >> 11), -53);
        x.push_back(static_cast<T>(i % 3 == 0 ? 10 * u : i % 3 == 1 ? std::exp(80 * u) : -20 * u));
    }
    for (auto* y : {&logarithm, &first, &second}) {
        y->resize(x.size());
    }
    in_vectors<lgamma_function>(x.data(), logarithm.data(), x.size());
    in_vectors<digamma_function>(x.data(), first.data(), x.size());
    in_vectors<trigamma_function>(x.data(), second.data(), x.size());

    std::size_t different = 0;
    double worst = 0, worst_step = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        different += std::size_t(!same(logarithm[i], alone<lgamma_function>(x[i]))) +
                     std::size_t(!same(first[i], alone<digamma_function>(x[i]))) +
                     std::size_t(!same(second[i], alone<trigamma_function>(x[i])));
        double const at = x[i], exact = std::lgamma(at), size = std::fmax(1, std::fabs(exact));
        worst = std::fmax(worst, std::fabs(double(logarithm[i]) - exact) / size);
        // f(x + 1) = f(x) + 1 / x or - 1 / x^2
        double const up = at + 1, inverse = 1 / at;
        double const from = elementary::digamma(at), to = elementary::digamma(up);
        double const bend = elementary::trigamma(at), after = elementary::trigamma(up);
        double const lost = 1e-16 * (1 + std::fabs(bend) * std::fabs(at)); // of x + 1
        worst_step = std::fmax(worst_step, std::fabs(to - from - inverse) /
                                               (std::fabs(from) + std::fabs(inverse) + lost));
        worst_step =
            std::fmax(worst_step, std::fabs(after - bend + inverse * inverse) / (bend + 1) -
                                      1e-15 * std::fabs(at) * std::sqrt(bend));
    }
    CHECK(different == 0);
    CHECK(worst <= some);
    CHECK(worst_step <= 1e-14);

    for (T const pole : {T(0), T(-0.0), T(-1), T(-20), limits::lowest(), -infinity}) {
        CHECK(alone<lgamma_function>(pole) == infinity);
    }
    for (T const pole : {T(-1), T(-20), -infinity}) {
        CHECK(std::isnan(alone<digamma_function>(pole)));
    }
    CHECK(alone<digamma_function>(T(0)) == -infinity);
    CHECK(alone<digamma_function>(T(-0.0)) == infinity);
    CHECK(alone<trigamma_function>(T(0)) == infinity);
    CHECK(alone<lgamma_function>(infinity) == infinity);
    CHECK(alone<digamma_function>(infinity) == infinity);
    CHECK(alone<trigamma_function>(infinity) == 0);
    CHECK(std::isnan(alone<lgamma_function>(limits::quiet_NaN())));
    CHECK(std::isnan(alone<digamma_function>(limits::quiet_NaN())));
    CHECK(elementary::polygamma(T(3), T(-2)) == infinity);
    CHECK(std::isnan(elementary::polygamma(T(2), -infinity)));
    CHECK(std::isnan(elementary::polygamma(T(2), limits::quiet_NaN())));
    CHECK(std::isnan(elementary::polygamma(T(0), T(1))));
    CHECK(std::isnan(elementary::polygamma(T(1.5), T(1))));
}
