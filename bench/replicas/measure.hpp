// Times of what is compared, taken in turns. Of one thread they are the processor's, which another
// program on the machine disturbs least.
#pragma once

#include <castnet/core/clock.hpp>

#include <algorithm>
#include <time.h>
#include <vector>

namespace bench {

inline double processor_seconds() {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

// Seconds that one call of f keeps the processor, from as many as fit into `seconds`.
template <class F>
double time_of(F const& f, double seconds) {
    double const start = processor_seconds();
    int calls = 0;
    double spent = 0;
    while (spent < seconds) {
        f();
        ++calls;
        spent = processor_seconds() - start;
    }
    return spent / calls;
}

struct spread {
    double least, median, most;
};
inline spread spread_of(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    return {x.front(), x[x.size() / 2], x.back()};
}

} // namespace bench
