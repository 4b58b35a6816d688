// Times of what is compared, taken in turns.
#pragma once

#include <castnet/core/clock.hpp>

#include <algorithm>
#include <vector>

namespace bench {

// Seconds of one call of f, from as many as fit into `seconds`.
template <class F>
double time_of(F const& f, double seconds) {
    double const start = castnet::detail::monotonic_seconds();
    int calls = 0;
    double spent = 0;
    while (spent < seconds) {
        f();
        ++calls;
        spent = castnet::detail::monotonic_seconds() - start;
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
