// Learning-rate schedules: functions of the step (from 0) and the number of all steps of a fit.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>

namespace castnet {

using schedule = std::function<double(std::uint64_t step, std::uint64_t total)>;

namespace detail {

// From a to b along half a cosine while t goes from 0 to 1.
inline double cosine(double a, double b, double t) {
    return b + (a - b) * 0.5 * (1 + std::cos(3.14159265358979323846 * t));
}

} // namespace detail

// The 1cycle policy (Smith & Topin 2018; PyTorch's OneCycleLR with its defaults): from peak / 25 up
// to the peak during the first 30 % of the steps, then down to peak / 250,000.
inline schedule one_cycle(double peak, double rising = 0.3) {
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

// From `rate` down to `floor` along half a cosine (Loshchilov & Hutter 2017, without restarts).
inline schedule cosine_decay(double rate, double floor = 0) {
    return [=](std::uint64_t step, std::uint64_t total) {
        return detail::cosine(rate, floor, static_cast<double>(step) / static_cast<double>(total));
    };
}

// rate * factor^floor(step / every): Keras' and PyTorch's step decay, in steps.
inline schedule step_decay(double rate, double factor, std::uint64_t every) {
    return [=](std::uint64_t step, std::uint64_t) {
        std::uint64_t const times = step / every;
        return rate * std::pow(factor, static_cast<double>(times));
    };
}

// Linearly from 0 to what `then` gives during the first `steps` steps (Goyal et al. 2017).
inline schedule warm_up(std::uint64_t steps, schedule const& then) {
    return [=](std::uint64_t step, std::uint64_t total) {
        double const rate = then(step, total);
        return step < steps ? rate * static_cast<double>(step + 1) / static_cast<double>(steps)
                            : rate;
    };
}

} // namespace castnet
