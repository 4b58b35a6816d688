// Table of the penalties of a plan's parameters in the GPU's memory.
#pragma once

#include <castnet/device/cuda/optimize.hpp>
#include <castnet/device/cuda/session.hpp>
#include <castnet/plan/penalties.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace castnet::cuda {

// Of all trainable parameters, whose groups are as for for_each_penalty().
template <class Plan>
std::vector<penalized_range> penalized_ranges(Plan const& p, std::span<update_group const> groups) {
    std::vector<penalized_range> all;
    for_each_penalty(p, groups,
                     [&](penalty const& cost, update_group group, std::ptrdiff_t,
                         std::ptrdiff_t last) { all.push_back({last, cost, group}); });
    return all;
}

inline void write_ranges(std::vector<penalized_range> const& ranges, memory const& to,
                         session const& where) {
    where.write(to.template as<penalized_range>(), std::ptrdiff_t(ranges.size()),
                [&](penalized_range* out) { std::copy(ranges.begin(), ranges.end(), out); });
}

} // namespace castnet::cuda
