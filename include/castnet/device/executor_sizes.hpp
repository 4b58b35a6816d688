// Sizes of an executor's memory without the parameters, and where devices have memories of their
// own, of each of them.
#pragma once

#include <castnet/core/language.hpp>

#include <array>
#include <cstddef>

namespace castnet::ir {

struct executor_sizes { // the first four in elements, multiples of the device's alignment
    std::ptrdiff_t gradients = 0;
    std::ptrdiff_t state = 0; // of the optimizer, after the gradients
    std::ptrdiff_t batch = 0, workspace = 0;
    std::ptrdiff_t samples = 0; // of a batch that may come from a data set in the device's memory
    std::ptrdiff_t totals = 0;  // sums of loss and metrics

    constexpr std::ptrdiff_t all() const { return gradients + state + batch + workspace; }
};

// Several devices whose memories are apart:
//   static constexpr int devices;
//   static constexpr bool has_memories = true;
template <class Device>
concept SeparateDevices = requires { requires Device::has_memories; };

constexpr void take_largest(std::ptrdiff_t& largest, std::ptrdiff_t x) {
    largest = x > largest ? x : largest;
}

// Of an executor that runs these plans: `all`, or its part on each device.
template <class Device, class... Plans>
constexpr auto sizes_on(executor_sizes const& all, Plans const&... plans) {
    if constexpr (SeparateDevices<Device>) {
        std::array<executor_sizes, Device::devices> each{};
        for (int d = 0; d < Device::devices; ++d) {
            executor_sizes& here = each[static_cast<size_t>(d)];
            here = all;
            here.workspace = 0;
            (..., take_largest(here.workspace, plans.devices[d].workspace.count));
            std::ptrdiff_t trained = 0;
            (..., take_largest(trained, plans.devices[d].trained.count));
            here.gradients = all.gradients > 0 ? trained : 0;
            here.state = all.gradients > 0 ? all.state / all.gradients * trained : 0;
        }
        return each;
    } else {
        return all;
    }
}

} // namespace castnet::ir
