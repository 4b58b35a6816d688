// Learning-rate schedules: PyTorch's numbers, and the shape of the curves.
#include <castnet/optim/schedules.hpp>

#include <doctest/doctest.h>
#include <limits>

namespace cn = castnet;

namespace {

doctest::Approx about(double x) {
    return doctest::Approx{x}.epsilon(1e-12);
}

} // namespace

TEST_CASE("one_cycle is PyTorch's OneCycleLR") {
    double const ten[] = {0.00015999999999999999,
                          0.0020800000000000003,
                          0.004,
                          0.0038019385280538944,
                          0.003246982615799052,
                          0.0024450480877451566,
                          0.001554967912254843,
                          0.0007530333842009479,
                          0.00019807747194610514,
                          1.6e-08};
    auto const rate = cn::one_cycle(4e-3);
    for (std::uint64_t i = 0; i < 10; ++i) {
        CHECK(rate(i, 10) == about(ten[i]));
    }
    CHECK(rate(1, 100) == about(0.0001712551222636297));
    CHECK(rate(28, 100) == about(0.00398874487773637));
    CHECK(rate(29, 100) == about(0.004));
    CHECK(rate(30, 100) == about(0.003997986141138097));
    CHECK(rate(98, 100) == about(2.0298588619031514e-06));

    auto const quick = cn::one_cycle(1, 0.25);
    CHECK(quick(0, 20) == about(0.04));
    CHECK(quick(3, 20) == about(0.8594112549695427));
    CHECK(quick(12, 20) == about(0.4477379774230999));
    CHECK(quick(19, 20) == about(4e-06));
}

TEST_CASE("one_cycle of very few steps is finite") {
    auto const rate = cn::one_cycle(4e-3);
    CHECK(rate(0, 3) == about(0.003977661741803647));
    CHECK(rate(2, 3) == about(1.6e-08));
    CHECK(rate(0, 2) == about(0.0032469826157990518));
    CHECK(rate(0, 1) > 0);
    CHECK(rate(0, 1) <= 4e-3);
}

TEST_CASE("cosine_decay goes from its rate towards its floor") {
    auto const rate = cn::cosine_decay(0.2, 0.1);
    CHECK(rate(0, 50) == about(0.2));
    CHECK(rate(25, 50) == about(0.15));
    CHECK(rate(50, 50) == about(0.1));
    CHECK(cn::cosine_decay(0.2)(50, 50) == doctest::Approx(0));
}

TEST_CASE("step_decay changes at multiples") {
    auto const rate = cn::step_decay(0.8, 0.5, 10);
    CHECK(rate(0, 100) == about(0.8));
    CHECK(rate(9, 100) == about(0.8));
    CHECK(rate(10, 100) == about(0.4));
    CHECK(rate(35, 100) == about(0.1));
}

// Rates of torch.optim.lr_scheduler.MultiStepLR and SequentialLR.
TEST_CASE("multi_step_decay changes at its milestones") {
    auto const rate = cn::multi_step_decay(0.1, 0.5, {2, 5, 5});
    double const expected[] = {0.1, 0.1, 0.05, 0.05, 0.05, 0.0125, 0.0125};
    for (std::uint64_t i = 0; i < 7; ++i) {
        CHECK(rate(i, 7) == about(expected[i]));
    }
}

TEST_CASE("a schedule is followed by another one, which begins at its own step 0") {
    auto const rate =
        cn::followed_by(cn::exponential_decay(0.1, 0.9), 3, cn::step_decay(0.1, 0.5, 2));
    double const expected[] = {0.1, 0.09, 0.081, 0.1, 0.1, 0.05, 0.05, 0.025};
    for (std::uint64_t i = 0; i < 8; ++i) {
        CHECK(rate(i, 8) == about(expected[i]));
    }
    auto const twice = cn::followed_by(cn::cosine_decay(1), 10, cn::cosine_decay(2));
    CHECK(twice(5, 30) == about(0.5));
    CHECK(twice(20, 30) == about(1));
    CHECK(twice(2, 4) == about(0.5)); // of a fit that is shorter
}

TEST_CASE("warm_up rises linearly to the schedule behind it") {
    auto const rate = cn::warm_up(4, cn::step_decay(1, 0.5, 6));
    CHECK(rate(0, 20) == about(0.25));
    CHECK(rate(2, 20) == about(0.75));
    CHECK(rate(3, 20) == about(1));
    CHECK(rate(5, 20) == about(1));
    CHECK(rate(6, 20) == about(0.5));
}

TEST_CASE("exponential and polynomial decays are Keras's") {
    cn::schedule const exponential = cn::exponential_decay(0.1, 0.5, 4);
    CHECK(exponential(0, 100) == doctest::Approx(0.1));
    CHECK(exponential(2, 100) == doctest::Approx(0.1 * std::sqrt(0.5)));
    CHECK(exponential(8, 100) == doctest::Approx(0.025));
    cn::schedule const line = cn::polynomial_decay(1, 0.2),
                       square = cn::polynomial_decay(1, 0.2, 2);
    CHECK(line(0, 10) == doctest::Approx(1));
    CHECK(line(5, 10) == doctest::Approx(0.6));
    CHECK(square(5, 10) == doctest::Approx(0.4));
}

TEST_CASE("a cosine with restarts begins again, for longer if it grows") {
    cn::schedule const restarts = cn::cosine_restarts(1, 10, 2, 0.1),
                       single = cn::cosine_decay(1, 0.1);
    for (std::uint64_t const step : {0U, 3U, 9U}) {
        CHECK(restarts(step, 1000) == doctest::Approx(single(step, 10)));
        CHECK(restarts(10 + step, 1000) == doctest::Approx(single(step, 20)));
        CHECK(restarts(30 + step, 1000) == doctest::Approx(single(step, 40)));
    }
    CHECK(cn::cosine_restarts(1, 10)(25, 1000) == doctest::Approx(0.5));
    CHECK(cn::cosine_restarts(1, 2, std::uint64_t{1} << 63)(5, 10) == doctest::Approx(1));
    CHECK_THROWS_AS(cn::cosine_restarts(1, 0), cn::error);
    CHECK_THROWS_AS(cn::exponential_decay(1, 0.5, 0), cn::error);
}

TEST_CASE("schedules refuse what they cannot be made of") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH_AS((void)cn::step_decay(1, 0.5, 0),
                         "castnet: step_decay: every is 0, expected a number of steps from 1",
                         cn::error);
    CHECK_THROWS_WITH_AS((void)cn::cosine_decay(-0.1),
                         "castnet: cosine_decay: rate is -0.1, expected a finite number that is "
                         "not negative",
                         cn::error);
    CHECK_THROWS_AS((void)cn::cosine_decay(1, nan), cn::error);
    CHECK_THROWS_AS((void)cn::step_decay(1, -1, 5), cn::error);
    CHECK_THROWS_AS((void)cn::one_cycle(nan), cn::error);
    CHECK_THROWS_AS((void)cn::one_cycle(1, 1.5), cn::error);
    CHECK_THROWS_AS((void)cn::warm_up(3, {}), cn::error);
    CHECK_THROWS_AS((void)cn::multi_step_decay(nan, 0.5, {3}), cn::error);
    CHECK_THROWS_AS((void)cn::followed_by(cn::cosine_decay(1), 3, {}), cn::error);
    CHECK_THROWS_AS((void)cn::followed_by({}, 3, cn::cosine_decay(1)), cn::error);
}
