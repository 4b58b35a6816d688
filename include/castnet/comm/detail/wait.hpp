// Polling for another thread or process: first a spin, then yields, then sleeps.
#pragma once

#include <castnet/comm/collective.hpp>

#include <sched.h>
#include <time.h>

namespace castnet::comm::detail {

inline double now() { // seconds
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Calls done() until it is true; false if it is not within `seconds`.
template <class Done>
bool wait_until(Done const& done, double seconds = timeout()) {
    for (int i = 0; i < 256; ++i) {
        if (done()) {
            return true;
        }
    }
    double const start = now();
    while (!done()) {
        double const waited = now() - start;
        if (!(waited <= seconds)) { // nor is there a timeout of NaN
            return false;
        }
        if (waited < 2e-3) {
            sched_yield();
        } else {
            timespec const pause{0, 50'000};
            nanosleep(&pause, nullptr);
        }
    }
    return true;
}

} // namespace castnet::comm::detail
