// Reductions of rows that are long enough for vectors, and of shorter ones.
#include <castnet/device/cpu/reduce.hpp>

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>
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

TEST_CASE_TEMPLATE("the largest element of a row as if one by one", T, float, double) {
    auto const check = [&]<ir::reduction R>(std::integral_constant<ir::reduction, R>,
                                            std::vector<T> const& x) {
        ir::reducer<R, T> r;
        for (std::size_t i = 0; i < x.size(); ++i) {
            r.take(x[i], std::ptrdiff_t(i));
        }
        T const expected = r.result(T(1)), found = reduced<R>(x);
        CHECK((found == expected || (std::isnan(found) && std::isnan(expected))));
    };
    auto const check_all = [&](std::vector<T> const& x) {
        using ir::reduction;
        check(std::integral_constant<reduction, reduction::max>{}, x);
        check(std::integral_constant<reduction, reduction::argmax>{}, x);
        check(std::integral_constant<reduction, reduction::strict_argmax>{}, x);
    };
    T const nan = std::numeric_limits<T>::quiet_NaN();
    for (std::size_t const size : sizes) {
        INFO(size << " elements");
        check_all(std::vector<T>(size, -infinity<T>));
        check_all(std::vector<T>(size, T(-2)));
        std::vector<T> x(size);
        for (std::size_t i = 0; i < size; ++i) {
            x[i] = T((i * 7919 + 13) % 5003) - T(6000);
        }
        check_all(x);
        for (std::size_t const first : {std::size_t{0}, size / 3, size - 1}) {
            for (std::size_t const second : {size / 2, size - 1}) {
                for (T const special : {T(1), infinity<T>, nan}) {
                    std::vector<T> y = x;
                    y[first] = special;
                    check_all(y); // alone
                    y[second] = special;
                    check_all(y); // a tie
                    y[size / 4] = T(1);
                    check_all(y);
                }
            }
        }
    }
}

// Vectors lie along the pixels where their channels are few.
TEST_CASE_TEMPLATE("rows of several pixels are reduced as each by itself", T, float, double) {
    using ir::opcode;
    constexpr ir::instruction load{.code = opcode::load, .a = 0, .b = 7},
        of_pixel{.code = opcode::load, .a = 1, .b = 3},
        difference{.code = opcode::apply, .function = fn::subtract, .a = 0, .b = 1};
    auto const check = [&]<ir::reduction R>(std::integral_constant<ir::reduction, R>) {
        using program =
            ir::program<load, of_pixel, difference,
                        ir::instruction{
                            .code = opcode::reduce, .a = static_cast<std::uint8_t>(R), .b = 3}>;
        std::vector<int> several{64, 75, 256, 257};
        several.resize(several.size() + 39);
        std::iota(several.begin() + 4, several.end(), 1);
        for (int const channels : several) {
            for (int const pixels : {1, 7, 16, 17, 40}) {
                INFO(channels << " channels of " << pixels << " pixels");
                constexpr int samples = 3;
                std::vector<T> x, shift, out(std::size_t(samples * pixels));
                for (int i = 0; i < samples * pixels * channels; ++i) {
                    x.push_back(T(i * 37 % 101 - 50) / T(7));
                }
                for (int i = 0; i < samples * pixels; ++i) {
                    shift.push_back(T(i % 5) / T(3));
                }
                x[x.size() / 2] = -infinity<T>;
                ir::array_ref arrays[3] = {{ir::region::workspace, 0, {true, pixels, channels}},
                                           {ir::region::parameters, 0, {true, pixels, 1}},
                                           {ir::region::gradients, 0, {true, pixels, 1}}};
                ir::kernel_launch s{};
                s.arrays = s.output = 2;
                s.space = {true, pixels, channels};
                s.factor = 0.5;
                cpu::tables const t{arrays, nullptr, nullptr};
                cpu::context<T> c;
                c.region[int(ir::region::workspace)] = x.data();
                c.region[int(ir::region::parameters)] = shift.data();
                c.region[int(ir::region::gradients)] = out.data();
                c.samples = samples;
                cpu::reduce<program>(s, t, c);
                auto const a = cpu::arguments_of(s, t, c);
                for (int i = 0; i < samples * pixels; ++i) {
                    std::ptrdiff_t const sample = i / pixels, pixel = i % pixels;
                    CHECK(out[std::size_t(i)] == cpu::reduce_all<program, R>(s, a,
                                                                             {sample, sample + 1},
                                                                             {pixel, pixel + 1}));
                }
            }
        }
    };
    check(std::integral_constant<ir::reduction, ir::reduction::sum>{});
    check(std::integral_constant<ir::reduction, ir::reduction::max>{});
    check(std::integral_constant<ir::reduction, ir::reduction::log_sum_exp>{});
}

// Of samples and pixels to channels, each point multiplied by a number of its channel, of all
// samples or of its own.
TEST_CASE_TEMPLATE("sums and maxima of few channels over many pixels", T, float, double) {
    using ir::opcode;
    constexpr ir::instruction load{.code = opcode::load, .a = 0, .b = 7},
        factor{.code = opcode::load, .a = 1, .b = 4}, own{.code = opcode::load, .a = 1, .b = 5},
        product{.code = opcode::apply, .function = fn::multiply, .a = 0, .b = 1};
    constexpr auto end = [](ir::reduction r) {
        return ir::instruction{
            .code = opcode::reduce, .a = static_cast<std::uint8_t>(r), .b = 4, .d = 2};
    };
    auto const check = [&]<ir::instruction Factor>(std::integral_constant<ir::instruction, Factor>,
                                                   int channels, int pixels) {
        INFO(channels << " channels of " << pixels << " pixels");
        int const samples = 3, count = samples * pixels * channels;
        std::vector<T> x, factors;
        std::vector<double> sum(size_t(channels), 0.0), most(size_t(channels), -1e30);
        for (int i = 0; i < samples * channels; ++i) {
            factors.push_back(T(i % 5 - 2) / T(4));
        }
        for (int i = 0; i < count; ++i) {
            int const channel = i % channels, sample = Factor == own ? i / channels / pixels : 0;
            x.push_back(T(i * 37 % 101 - 50) / T(8));
            double const here =
                double(x.back()) * double(factors[size_t(sample * channels + channel)]);
            sum[size_t(channel)] += here;
            most[size_t(channel)] = std::max(most[size_t(channel)], here);
        }
        ir::program_arguments<T> a{};
        a.array[0] = x.data();
        a.array[1] = factors.data();
        ir::kernel_launch s{};
        s.space = {true, pixels, channels};
        s.factor = 1;
        std::vector<T> total(size_t(channels), T(7)), top(size_t(channels), T(7));
        cpu::reduce_to_channels<ir::program<load, Factor, product, end(ir::reduction::sum)>,
                                ir::reduction::sum>(s, a, {0, samples}, {0, pixels}, total.data());
        cpu::reduce_to_channels<ir::program<load, Factor, product, end(ir::reduction::max)>,
                                ir::reduction::max>(s, a, {0, samples}, {0, pixels}, top.data());
        for (size_t i = 0; i < size_t(channels); ++i) { // multiples of 1/32, exact as floats
            CHECK(double(total[i]) == sum[i]);
            CHECK(double(top[i]) == most[i]);
        }
    };
    for (int const channels : {1, 2, 3, 7, 16, 40, 64, 65}) {
        for (int const pixels : {1, 5, 96, 300, 257}) {
            check(std::integral_constant<ir::instruction, factor>{}, channels, pixels);
            check(std::integral_constant<ir::instruction, own>{}, channels, pixels);
        }
    }
}
