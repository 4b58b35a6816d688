// Seconds of a monotonic clock. By POSIX, because including <chrono> costs every program that
// trains 0.2 s of compile time.
#pragma once

#include <castnet/core/language.hpp>

#include <time.h>

namespace castnet::detail {

// Since an arbitrary time in the past.
inline double monotonic_seconds() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

} // namespace castnet::detail
