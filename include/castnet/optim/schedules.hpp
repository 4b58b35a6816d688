// Learning-rate schedules: functions of the step (from 0) and the total number of steps of a fit.
// The functions that make them throw castnet::error for rates that are negative or not finite.
#pragma once

#include <castnet/core/hyperparameters.hpp>
#include <castnet/core/shape.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace castnet {

struct schedule : std::function<double(std::uint64_t step, std::uint64_t total)> {
    schedule() = default;
    template <class F>
        requires(!std::is_same_v<F, schedule>)
    schedule(F rate) {
        if constexpr (std::is_constructible_v<function, F>) {
            function::operator=(std::move(rate));
        } else {
            static_assert(detail::never<F>,
                          "castnet: a schedule is a function of the step (from 0) and of the "
                          "number of steps of a fit, which returns the learning rate, such as "
                          "[](std::uint64_t step, std::uint64_t) { return 0.1 / (1 + step); }; a "
                          "constant rate is the optimizer's learning_rate");
        }
    }
};

// The 1cycle policy (Smith & Topin 2018; PyTorch's OneCycleLR with cycle_momentum=False, since no
// schedule changes a momentum): from peak / 25 up to the peak during the first 30 % of the steps
// (`rising`: from 0 to 1), then down to peak / 250,000.
schedule one_cycle(double peak, double rising = 0.3);

// From `rate` down to `lowest` along half a cosine (Loshchilov & Hutter 2017, without restarts).
schedule cosine_decay(double rate, double lowest = 0);

// rate * factor^floor(step / every): Keras' and PyTorch's step decay, in steps; `every` is at
// least 1.
schedule step_decay(double rate, double factor, std::uint64_t every);

// rate * factor^n, where n is how many of the milestones, numbers of steps, are behind: PyTorch's
// MultiStepLR.
schedule multi_step_decay(double rate, double factor, std::vector<std::uint64_t> milestones);

// rate * factor^(step / every), without steps: Keras' ExponentialDecay; `every` is at least 1.
schedule exponential_decay(double rate, double factor, std::uint64_t every = 1);

// From `rate` to `end` over all steps, along (1 - t)^power: Keras' PolynomialDecay; a straight
// line with a power of 1.
schedule polynomial_decay(double rate, double end = 0, double power = 1);

// Half a cosine from `rate` to `lowest` during the first `period` steps and again during the next
// ones, each time `growth` times as long: SGDR (Loshchilov & Hutter 2017), PyTorch's
// CosineAnnealingWarmRestarts. `period` and `growth` are at least 1.
schedule cosine_restarts(double rate, std::uint64_t period, std::uint64_t growth = 1,
                         double lowest = 0);

// Linear warm-up (Goyal et al. 2017): during the first `steps` steps, a growing share of the rate
// of `then`. Throws castnet::error if `then` is empty.
schedule warm_up(std::uint64_t steps, schedule const& then);

// One schedule during the first `steps` steps, as if the fit had no more, and another one in what
// is left of it, whose steps count from 0 again (PyTorch's SequentialLR). Throws castnet::error if
// one of them is empty.
schedule followed_by(schedule const& first, std::uint64_t steps, schedule const& then);

#ifndef __CUDA_ARCH__ // the host's work, which nvcc would read once more for the GPU

namespace detail {

// From a to b along half a cosine while t goes from 0 to 1.
inline double cosine(double a, double b, double t) {
    return b + (a - b) * 0.5 * (1 + std::cos(3.14159265358979323846 * t));
}

} // namespace detail

inline schedule one_cycle(double peak, double rising) {
    detail::check_hyperparameters("one_cycle",
                                  {{"peak", peak}, {"rising", rising, hyperparameter::fraction}});
    return [=](std::uint64_t step, std::uint64_t total) {
        double const last = static_cast<double>(total) - 1,
                     top = rising * static_cast<double>(total) - 1;
        double const now = static_cast<double>(step);
        double const start = peak / 25, end = start / 1e4;
        if (now <= top && top > 0) {
            return detail::cosine(start, peak, now / top);
        }
        return last > top ? detail::cosine(peak, end, (now - top) / (last - top)) : end;
    };
}

inline schedule cosine_decay(double rate, double lowest) {
    detail::check_hyperparameters("cosine_decay", {{"rate", rate}, {"lowest", lowest}});
    return [=](std::uint64_t step, std::uint64_t total) {
        return detail::cosine(rate, lowest, static_cast<double>(step) / static_cast<double>(total));
    };
}

inline schedule step_decay(double rate, double factor, std::uint64_t every) {
    detail::check_hyperparameters("step_decay", {{"rate", rate}, {"factor", factor}});
    if (every == 0) {
        throw error("castnet: step_decay: every is 0, expected a number of steps from 1");
    }
    return [=](std::uint64_t step, std::uint64_t) {
        std::uint64_t const times = step / every;
        return rate * std::pow(factor, static_cast<double>(times));
    };
}

inline schedule multi_step_decay(double rate, double factor,
                                 std::vector<std::uint64_t> milestones) {
    detail::check_hyperparameters("multi_step_decay", {{"rate", rate}, {"factor", factor}});
    return [=, milestones = std::move(milestones)](std::uint64_t step, std::uint64_t) {
        auto const behind = std::count_if(milestones.begin(), milestones.end(),
                                          [step](std::uint64_t each) { return each <= step; });
        return rate * std::pow(factor, static_cast<double>(behind));
    };
}

inline schedule exponential_decay(double rate, double factor, std::uint64_t every) {
    detail::check_hyperparameters("exponential_decay", {{"rate", rate}, {"factor", factor}});
    if (every == 0) {
        throw error("castnet: exponential_decay: every is 0, expected a number of steps from 1");
    }
    return [=](std::uint64_t step, std::uint64_t) {
        return rate * std::pow(factor, static_cast<double>(step) / static_cast<double>(every));
    };
}

inline schedule polynomial_decay(double rate, double end, double power) {
    detail::check_hyperparameters("polynomial_decay",
                                  {{"rate", rate}, {"end", end}, {"power", power}});
    return [=](std::uint64_t step, std::uint64_t total) {
        double const left = 1 - static_cast<double>(step) / static_cast<double>(total);
        return end + (rate - end) * std::pow(left, power);
    };
}

inline schedule cosine_restarts(double rate, std::uint64_t period, std::uint64_t growth,
                                double lowest) {
    detail::check_hyperparameters("cosine_restarts", {{"rate", rate}, {"lowest", lowest}});
    if (period == 0 || growth == 0) {
        throw error({"castnet: cosine_restarts: found a period of ", quantity(period, "step"),
                     " and a growth of ", growth, ", expected numbers from 1"});
    }
    return [=](std::uint64_t step, std::uint64_t) {
        auto length = static_cast<double>(period), now = static_cast<double>(step);
        while (now >= length) {
            now -= length;
            length *= static_cast<double>(growth);
        }
        return detail::cosine(rate, lowest, now / length);
    };
}

inline schedule warm_up(std::uint64_t steps, schedule const& then) {
    if (!then) {
        throw error(
            "castnet: warm_up: the schedule that follows is empty; give cosine_decay(rate) or "
            "another one");
    }
    return [=](std::uint64_t step, std::uint64_t total) {
        double const rate = then(step, total);
        return step < steps ? rate * static_cast<double>(step + 1) / static_cast<double>(steps)
                            : rate;
    };
}

inline schedule followed_by(schedule const& first, std::uint64_t steps, schedule const& then) {
    if (!first || !then) {
        throw error("castnet: followed_by: a schedule is empty; give cosine_decay(rate) or another "
                    "one");
    }
    return [=](std::uint64_t step, std::uint64_t total) {
        return step < steps ? first(step, std::min(steps, total))
                            : then(step - steps, total - std::min(steps, total));
    };
}

#endif

} // namespace castnet
