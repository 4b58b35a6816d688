// Reductions of rows that are long enough for vectors, and of shorter ones.
#include <castnet/device/cpu/reduce.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

using namespace castnet;

namespace {

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

template <ir::reduction R, class T>
T reduced(std::vector<T> const& x) {
    using program =
        ir::program<ir::instruction{.code = ir::opcode::load, .a = 0, .b = 7},
                    ir::instruction{
                        .code = ir::opcode::reduce, .a = static_cast<std::uint8_t>(R), .b = 1}>;
    ir::program_arguments<T> a{};
    a.array[0] = x.data();
    ir::kernel_launch s{};
    s.space.pixels = 1;
    s.space.channels = static_cast<int>(x.size());
    s.factor = 1;
    return cpu::reduce_all<program, R>(s, a, {0, 1}, {0, 1});
}

template <class T>
T log_sum_exp(std::vector<T> const& x) {
    return reduced<ir::reduction::log_sum_exp>(x);
}

constexpr std::size_t sizes[] = {1, 10, 31, 32, 33, 63, 255, 256, 257, 1000};

} // namespace

TEST_CASE_TEMPLATE("log_sum_exp of a row", T, float, double) {
    for (std::size_t const size : sizes) {
        INFO(size << " elements");
        std::vector<T> x(size);
        long double sum = 0;
        for (std::size_t i = 0; i < size; ++i) {
            x[i] = T(i * 37 % 101) / T(7) - T(200); // whose exponentials underflow
            sum += std::exp(static_cast<long double>(x[i]) + 200);
        }
        auto const expected = static_cast<double>(std::log(sum) - 200);
        double const error = 8 * double(std::numeric_limits<T>::epsilon()) * std::fabs(expected);
        CHECK(std::fabs(double(log_sum_exp(x)) - expected) <= error);

        for (T& element : x) {
            element += T(400); // or overflow
        }
        CHECK(std::fabs(double(log_sum_exp(x)) - (expected + 400)) <= error);
    }
}

TEST_CASE_TEMPLATE("log_sum_exp of a row with special values", T, float, double) {
    for (std::size_t const size : sizes) {
        INFO(size << " elements");
        std::vector<T> const nothing(size, -infinity<T>);
        CHECK(log_sum_exp(nothing) == -infinity<T>);
        for (std::size_t const place : {std::size_t{0}, size / 2, size - 1}) {
            std::vector<T> x = nothing;
            x[place] = T(3);
            CHECK(log_sum_exp(x) == T(3));
            x[place] = infinity<T>;
            CHECK(log_sum_exp(x) == infinity<T>);
            x[place] = std::numeric_limits<T>::quiet_NaN();
            CHECK(std::isnan(log_sum_exp(x)));
        }
    }
}

TEST_CASE_TEMPLATE("the position of the largest element of a row", T, float, double) {
    for (std::size_t const size : sizes) {
        std::vector<T> x(size);
        for (std::size_t const place : {std::size_t{0}, size / 2, size - 1}) {
            x[place] += T(1 + place);
            CHECK(reduced<ir::reduction::argmax>(x) == T(place));
        }
    }
}
