// Table of the penalties of a plan's parameters in the GPU's memory.
#pragma once

#include <castnet/device/cuda/optimize.hpp>
#include <castnet/device/cuda/session.hpp>
#include <castnet/plan/penalties.hpp>

#include <algorithm>
#include <vector>

namespace castnet::cuda {

template <class Plan>
memory penalized_ranges(Plan const& p, session const& where) {
    std::vector<penalized_range> all;
    for_each_penalty(p, [&](penalty const& cost, std::ptrdiff_t, std::ptrdiff_t last) {
        all.push_back({last, cost});
    });
    memory ranges = where.allocate(all.size() * sizeof(penalized_range), "penalties");
    where.write(ranges.template as<penalized_range>(), std::ptrdiff_t(all.size()),
                [&](penalized_range* to) { std::copy(all.begin(), all.end(), to); });
    return ranges;
}

} // namespace castnet::cuda
